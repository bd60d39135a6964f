package builtin

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// jobEnd is what the conditions of a job say about its end.
type jobEnd struct{ complete, failed, failing, succeeding bool }

func (e jobEnd) finished() bool { return e.complete || e.failed }

func endOf(job document.Value) (e jobEnd) {
	for _, condition := range job.Lookup("status", "conditions").Items() {
		if condition.Get("status").Text() != "True" {
			continue
		}
		switch condition.Get("type").Text() {
		case "Complete":
			e.complete = true
		case "Failed":
			e.failed = true
		case "FailureTarget":
			e.failing = true
		case "SuccessCriteriaMet":
			e.succeeding = true
		}
	}
	return e
}

// jobChange is a job's status and what it was. kube-apiserver leaves what was wrong already alone, so that
// most checks are made only if what they are about has changed.
type jobChange struct {
	c           *checker
	spec        document.Value
	status, old document.Value
	end, oldEnd jobEnd
}

func jobChangeOf(c *checker, job, oldJob document.Value) jobChange {
	return jobChange{c, job.Get("spec"), job.Get("status"), oldJob.Get("status"), endOf(job), endOf(oldJob)}
}

// changed reports whether one of some fields of the status is not what it was.
func (j jobChange) changed(names ...string) bool {
	of, _ := below(j.c.kind, "status")
	for _, name := range names {
		if t, pointer := below(of, name); !same(t, pointer, j.status.Get(name), j.old.Get(name)) {
			return true
		}
	}
	return false
}

// conditionsWrong says what is wrong with the conditions, of which none is shown.
func (j jobChange) conditionsWrong(detail string) {
	j.c.invalid(field.OmitValueType{}, detail, "status", "conditions")
}

// uncountedPods wants uids, each once.
func uncountedPods(c *checker, pods, _ document.Value) {
	seen := map[string]bool{}
	for _, name := range [...]string{"succeeded", "failed"} {
		c.eachText(name, pods.Get(name), func(uid string) {
			switch {
			case uid == "":
				c.invalid(uid, "must not be empty")
			case seen[uid]:
				c.duplicate(uid)
			}
			seen[uid] = true
		})
	}
}

// finishedJob checks that what is finished says so in all fields, and since when.
func finishedJob(c *checker, job, oldJob document.Value) {
	j := jobChangeOf(c, job, oldJob)
	end, was := j.end, j.oldEnd
	if end.complete != was.complete || end.failed != was.failed {
		if end.complete && end.failed {
			j.conditionsWrong("cannot set Complete=True and Failed=true conditions")
		}
	}
	if end.complete != was.complete || end.failing != was.failing {
		if end.complete && end.failing {
			j.conditionsWrong("cannot set Complete=True and FailureTarget=true conditions")
		}
	}
	j.completionTime()
	if (end.failed != was.failed || j.changed("failedIndexes")) && end.failed && !end.failing {
		j.conditionsWrong("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (end.complete != was.complete || end.succeeding != was.succeeding) && end.complete && !end.succeeding {
		j.conditionsWrong("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
	if !end.finished() {
		return
	}
	ended := !was.finished()
	if active := number(j.status.Get("active")); active > 0 && (ended || j.changed("active")) {
		c.invalid(active, "active>0 is invalid for finished job", "status", "active")
	}
	if isNothing(j.status.Get("startTime")) && (ended || j.changed("startTime")) && !j.neverStarts() {
		c.required("startTime is required for finished job", "status", "startTime")
	}
	pods := j.status.Get("uncountedTerminatedPods")
	if (ended || j.changed("uncountedTerminatedPods")) && pods.Get("failed").Len()+pods.Get("succeeded").Len() > 0 {
		shownPods := struct{ Succeeded, Failed []string }{textsOrNone(pods.Get("succeeded")), textsOrNone(pods.Get("failed"))}
		c.invalid(shownPods, "must be empty for finished job", "status", "uncountedTerminatedPods")
	}
}

// textsOrNone returns the items of a list of strings, nil if there are none.
func textsOrNone(list document.Value) []string {
	if list.Len() == 0 {
		return nil
	}
	return texts(list)
}

// neverStarts reports whether a job is suspended and has nothing to do.
func (j jobChange) neverStarts() bool {
	completions := j.spec.Get("completions")
	return j.spec.Get("suspend").Bool() && !isNothing(completions) && number(completions) == 0
}

// completionTime wants a complete job to say since when it is, and no other.
func (j jobChange) completionTime() {
	c, completed, started := j.c, j.status.Get("completionTime"), j.status.Get("startTime")
	if j.end.complete != j.oldEnd.complete || j.changed("completionTime") {
		switch {
		case !isNothing(completed) && !j.end.complete:
			c.invalid(shown(completed), "cannot set completionTime when there is no Complete=True condition", "status", "completionTime")
		case isNothing(completed) && j.end.complete:
			c.required("completionTime is required for Complete jobs", "status", "completionTime")
		}
	}
	if j.changed("startTime", "completionTime") && isBefore(completed, started) {
		c.invalid(shown(completed), "must be equal to or after `startTime`", "status", "completionTime")
	}
}

// isBefore compares times; what is not there is neither before nor after.
func isBefore(a, b document.Value) bool {
	x, errX := time.Parse(time.RFC3339, a.Text())
	y, errY := time.Parse(time.RFC3339, b.Text())
	return errX == nil && errY == nil && x.Before(y)
}

// jobIndexes checks which indexes have succeeded and which have failed, and how many pods there are.
func jobIndexes(c *checker, job, oldJob document.Value) {
	j := jobChangeOf(c, job, oldJob)
	completions, perIndex := j.spec.Get("completions"), j.spec.Get("backoffLimitPerIndex")
	completed, failed := j.status.Get("completedIndexes"), j.status.Get("failedIndexes")
	wrong := func(indexes document.Value, detail, name string) { c.invalid(indexes.Text(), detail, "status", name) }
	readable := func(indexes document.Value, name string) {
		if _, problem := countIndexes(indexes.Text(), number(completions)); problem != "" {
			wrong(indexes, "error parsing "+name+": "+problem, name)
		}
	}
	newCompleted, newFailed := j.changed("completedIndexes"), j.changed("failedIndexes")
	if newCompleted && !isNothing(completions) {
		readable(completed, "completedIndexes")
	}
	if newFailed && !isNothing(completions) && !isNothing(perIndex) && !isNothing(failed) {
		readable(failed, "failedIndexes")
	}
	if newCompleted && completed.Text() != "" && j.spec.Get("completionMode").Text() != "Indexed" {
		wrong(completed, "cannot set non-empty completedIndexes when non-indexed completion mode", "completedIndexes")
	}
	if newFailed && isNothing(perIndex) && !isNothing(failed) {
		wrong(failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null", "failedIndexes")
	}
	if (newCompleted || newFailed) && !isNothing(completions) && !isNothing(failed) {
		if problem := overlap(completed.Text(), failed.Text(), number(completions)); problem != "" {
			wrong(failed, problem, "failedIndexes")
		}
	}
	if n := number(j.status.Get("terminating")); n > 0 && j.end.finished() && (!j.oldEnd.finished() || j.changed("terminating")) {
		c.invalid(n, "terminating>0 is invalid for finished job", "status", "terminating")
	}
	if ready := number(j.status.Get("ready")); j.changed("ready", "active") && !isNothing(j.status.Get("ready")) && ready > number(j.status.Get("active")) {
		c.invalid(ready, "cannot set more ready pods than active", "status", "ready")
	}
}

// overlap says which index is in both lists of intervals. Intervals that can not be read count for nothing.
func overlap(completed, failed string, completions int64) string {
	if completed == "" || failed == "" {
		return ""
	}
	a, b := readIntervals(completed, completions), readIntervals(failed, completions)
	for len(a) > 0 && len(b) > 0 {
		if a[0][0] <= b[0][1] && b[0][0] <= a[0][1] {
			return "failedIndexes and completedIndexes overlap at index: " + strconv.FormatInt(max(a[0][0], b[0][0]), 10)
		}
		if a[0][0] <= b[0][0] {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return ""
}

func readIntervals(text string, completions int64) (intervals [][2]int64) {
	for part := range strings.SplitSeq(text, ",") {
		if first, last, problem := readInterval(part, completions); problem == "" {
			intervals = append(intervals, [2]int64{first, last})
		}
	}
	return intervals
}

// jobConditions refuses conditions that contradict each other.
func jobConditions(c *checker, job, oldJob document.Value) {
	j := jobChangeOf(c, job, oldJob)
	if j.end.succeeding && j.end.failed {
		j.conditionsWrong("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if j.end.succeeding && j.end.failing {
		j.conditionsWrong("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if !isNothing(j.spec.Get("successPolicy")) && !j.end.succeeding && j.end.complete {
		j.conditionsWrong("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// jobProgress refuses that a job goes back.
func jobProgress(c *checker, job, oldJob document.Value) {
	j := jobChangeOf(c, job, oldJob)
	for _, end := range []struct {
		name    string
		was, is bool
	}{{"Failed", j.oldEnd.failed, j.end.failed}, {"Complete", j.oldEnd.complete, j.end.complete}, {"FailureTarget", j.oldEnd.failing, j.end.failing}} {
		if end.was && !end.is {
			j.conditionsWrong("cannot disable the terminal " + end.name + "=True condition")
		}
	}
	for _, name := range [...]string{"failed", "succeeded"} {
		if n := number(j.status.Get(name)); n < number(j.old.Get(name)) && !(name == "succeeded" && j.scalesDown()) {
			c.invalid(n, "cannot decrease the "+name+" counter", "status", name)
		}
	}
	completed, was := j.status.Get("completionTime"), j.old.Get("completionTime")
	if !isNothing(completed) && !isNothing(was) && j.changed("completionTime") {
		c.invalid(shown(completed), "field is immutable", "status", "completionTime")
	}
	if !isNothing(j.old.Get("startTime")) && j.changed("startTime") && !j.resumes() && !j.spec.Get("suspend").Bool() {
		c.invalid(shown(j.status.Get("startTime")), "field is immutable for unsuspended job once set", "status", "startTime")
	}
	if j.oldEnd.succeeding && !j.end.succeeding {
		j.conditionsWrong("cannot disable the SuccessCriteriaMet=True condition")
	}
	if j.oldEnd.complete && !j.oldEnd.succeeding && j.end.succeeding {
		j.conditionsWrong("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}

// scalesDown reports whether a job may have fewer indexes than it had.
func (j jobChange) scalesDown() bool {
	return j.spec.Get("completionMode").Text() == "Indexed" && document.Equal(j.spec.Get("completions"), j.spec.Get("parallelism"))
}

// resumes reports whether a job that was suspended is no more.
func (j jobChange) resumes() bool {
	return hasCondition(j.old, "Suspended", "True") && hasCondition(j.status, "Suspended", "False")
}

func hasCondition(status document.Value, name, value string) bool {
	for _, condition := range status.Get("conditions").Items() {
		if condition.Get("type").Text() == name && condition.Get("status").Text() == value {
			return true
		}
	}
	return false
}
