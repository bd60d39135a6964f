package builtin

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// jobOutcome holds the conditions of a Job that describe its termination.
type jobOutcome struct {
	complete   bool // complete reports whether the condition Complete is True.
	failed     bool // failed reports whether the condition Failed is True.
	failing    bool // failing reports whether the condition FailureTarget is True.
	succeeding bool // succeeding reports whether the condition SuccessCriteriaMet is True.
}

func (o jobOutcome) finished() bool { return o.complete || o.failed }

func outcomeOf(job document.Value) (e jobOutcome) {
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

// jobChange is an update of a Job's status. Most checks apply only to fields that the update changes, because kube-apiserver
// accepts invalid status fields that an update does not change.
type jobChange struct {
	c                   *checker
	spec                document.Value
	status, old         document.Value
	outcome, oldOutcome jobOutcome
}

func newJobChange(c *checker, job, oldJob document.Value) jobChange {
	return jobChange{c, job.Get("spec"), job.Get("status"), oldJob.Get("status"), outcomeOf(job), outcomeOf(oldJob)}
}

// changed reports whether the update changes any of the status fields whose names are in names.
func (j jobChange) changed(names ...string) bool {
	of, _ := fieldType(j.c.kind, "status")
	for _, name := range names {
		if t, pointer := fieldType(of, name); !semanticEqual(t, pointer, j.status.Get(name), j.old.Get(name)) {
			return true
		}
	}
	return false
}

// addConditionsError adds an error at status.conditions. The error does not show the conditions.
func (j jobChange) addConditionsError(detail string) {
	j.c.invalid(field.OmitValueType{}, detail, "status", "conditions")
}

// checkUncountedPods requires that the pod UIDs in uncountedTerminatedPods are not empty and are distinct.
func checkUncountedPods(c *checker, pods, _ document.Value) {
	seen := map[string]bool{}
	for _, name := range [...]string{"succeeded", "failed"} {
		c.forEachText(name, pods.Get(name), func(uid string) {
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

// checkFinishedJob requires that the termination conditions of a Job are consistent, and that the other status fields of a
// finished Job are consistent with them.
func checkFinishedJob(c *checker, job, oldJob document.Value) {
	j := newJobChange(c, job, oldJob)
	end, old := j.outcome, j.oldOutcome
	if end.complete != old.complete || end.failed != old.failed {
		if end.complete && end.failed {
			j.addConditionsError("cannot set Complete=True and Failed=true conditions")
		}
	}
	if end.complete != old.complete || end.failing != old.failing {
		if end.complete && end.failing {
			j.addConditionsError("cannot set Complete=True and FailureTarget=true conditions")
		}
	}
	j.checkCompletionTime()
	if (end.failed != old.failed || j.changed("failedIndexes")) && end.failed && !end.failing {
		j.addConditionsError("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (end.complete != old.complete || end.succeeding != old.succeeding) && end.complete && !end.succeeding {
		j.addConditionsError("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
	if !end.finished() {
		return
	}
	ended := !old.finished()
	if active := intValue(j.status.Get("active")); active > 0 && (ended || j.changed("active")) {
		c.invalid(active, "active>0 is invalid for finished job", "status", "active")
	}
	if isAbsentOrNull(j.status.Get("startTime")) && (ended || j.changed("startTime")) && !j.neverStarts() {
		c.required("startTime is required for finished job", "status", "startTime")
	}
	pods := j.status.Get("uncountedTerminatedPods")
	if (ended || j.changed("uncountedTerminatedPods")) && pods.Get("failed").Len()+pods.Get("succeeded").Len() > 0 {
		shownPods := struct{ Succeeded, Failed []string }{stringItemsOrNil(pods.Get("succeeded")), stringItemsOrNil(pods.Get("failed"))}
		c.invalid(shownPods, "must be empty for finished job", "status", "uncountedTerminatedPods")
	}
}

// stringItemsOrNil returns the items of list, which are strings; nil if list is empty.
func stringItemsOrNil(list document.Value) []string {
	if list.Len() == 0 {
		return nil
	}
	return stringItems(list)
}

// neverStarts reports whether the Job is suspended and has zero completions.
func (j jobChange) neverStarts() bool {
	completions := j.spec.Get("completions")
	return j.spec.Get("suspend").Bool() && !isAbsentOrNull(completions) && intValue(completions) == 0
}

// checkCompletionTime requires that a complete Job has a completionTime, which is not before its startTime, and that a Job that
// is not complete has none.
func (j jobChange) checkCompletionTime() {
	c, completed, started := j.c, j.status.Get("completionTime"), j.status.Get("startTime")
	if j.outcome.complete != j.oldOutcome.complete || j.changed("completionTime") {
		switch {
		case !isAbsentOrNull(completed) && !j.outcome.complete:
			c.invalid(errorValue(completed), "cannot set completionTime when there is no Complete=True condition", "status", "completionTime")
		case isAbsentOrNull(completed) && j.outcome.complete:
			c.required("completionTime is required for Complete jobs", "status", "completionTime")
		}
	}
	if j.changed("startTime", "completionTime") && isBefore(completed, started) {
		c.invalid(errorValue(completed), "must be equal to or after `startTime`", "status", "completionTime")
	}
}

// isBefore reports whether the time a is before the time b. It returns false if a or b is absent.
func isBefore(a, b document.Value) bool {
	x, errX := time.Parse(time.RFC3339, a.Text())
	y, errY := time.Parse(time.RFC3339, b.Text())
	return errX == nil && errY == nil && x.Before(y)
}

// checkJobIndexes validates completedIndexes and failedIndexes, and the numbers of terminating and ready pods.
func checkJobIndexes(c *checker, job, oldJob document.Value) {
	j := newJobChange(c, job, oldJob)
	completions, perIndex := j.spec.Get("completions"), j.spec.Get("backoffLimitPerIndex")
	completed, failed := j.status.Get("completedIndexes"), j.status.Get("failedIndexes")
	reportInvalid := func(indexes document.Value, detail, name string) { c.invalid(indexes.Text(), detail, "status", name) }
	checkIndexes := func(indexes document.Value, name string) {
		if _, problem := countIndexes(indexes.Text(), intValue(completions)); problem != "" {
			reportInvalid(indexes, "error parsing "+name+": "+problem, name)
		}
	}
	newCompleted, newFailed := j.changed("completedIndexes"), j.changed("failedIndexes")
	if newCompleted && !isAbsentOrNull(completions) {
		checkIndexes(completed, "completedIndexes")
	}
	if newFailed && !isAbsentOrNull(completions) && !isAbsentOrNull(perIndex) && !isAbsentOrNull(failed) {
		checkIndexes(failed, "failedIndexes")
	}
	if newCompleted && completed.Text() != "" && j.spec.Get("completionMode").Text() != "Indexed" {
		reportInvalid(completed, "cannot set non-empty completedIndexes when non-indexed completion mode", "completedIndexes")
	}
	if newFailed && isAbsentOrNull(perIndex) && !isAbsentOrNull(failed) {
		reportInvalid(failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null", "failedIndexes")
	}
	if (newCompleted || newFailed) && !isAbsentOrNull(completions) && !isAbsentOrNull(failed) {
		if problem := findOverlap(completed.Text(), failed.Text(), intValue(completions)); problem != "" {
			reportInvalid(failed, problem, "failedIndexes")
		}
	}
	if n := intValue(j.status.Get("terminating")); n > 0 && j.outcome.finished() && (!j.oldOutcome.finished() || j.changed("terminating")) {
		c.invalid(n, "terminating>0 is invalid for finished job", "status", "terminating")
	}
	if ready := intValue(j.status.Get("ready")); j.changed("ready", "active") && !isAbsentOrNull(j.status.Get("ready")) && ready > intValue(j.status.Get("active")) {
		c.invalid(ready, "cannot set more ready pods than active", "status", "ready")
	}
}

// findOverlap returns an error message for the first index that both completedIndexes and failedIndexes contain; "" if there is
// none. Invalid intervals are ignored.
func findOverlap(completed, failed string, completions int64) string {
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

// checkJobConditions rejects combinations of SuccessCriteriaMet and other termination conditions that contradict each other.
func checkJobConditions(c *checker, job, oldJob document.Value) {
	j := newJobChange(c, job, oldJob)
	if j.outcome.succeeding && j.outcome.failed {
		j.addConditionsError("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if j.outcome.succeeding && j.outcome.failing {
		j.addConditionsError("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if !isAbsentOrNull(j.spec.Get("successPolicy")) && !j.outcome.succeeding && j.outcome.complete {
		j.addConditionsError("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// checkJobProgress rejects updates that remove termination conditions, decrease counters, or change completionTime or, unless
// the Job is suspended or resumed, startTime.
func checkJobProgress(c *checker, job, oldJob document.Value) {
	j := newJobChange(c, job, oldJob)
	for _, end := range []struct {
		name    string
		was, is bool
	}{{"Failed", j.oldOutcome.failed, j.outcome.failed}, {"Complete", j.oldOutcome.complete, j.outcome.complete}, {"FailureTarget", j.oldOutcome.failing, j.outcome.failing}} {
		if end.was && !end.is {
			j.addConditionsError("cannot disable the terminal " + end.name + "=True condition")
		}
	}
	for _, name := range [...]string{"failed", "succeeded"} {
		if n := intValue(j.status.Get(name)); n < intValue(j.old.Get(name)) && !(name == "succeeded" && j.scalesDown()) {
			c.invalid(n, "cannot decrease the "+name+" counter", "status", name)
		}
	}
	completed, old := j.status.Get("completionTime"), j.old.Get("completionTime")
	if !isAbsentOrNull(completed) && !isAbsentOrNull(old) && j.changed("completionTime") {
		c.invalid(errorValue(completed), "field is immutable", "status", "completionTime")
	}
	if !isAbsentOrNull(j.old.Get("startTime")) && j.changed("startTime") && !j.resumes() && !j.spec.Get("suspend").Bool() {
		c.invalid(errorValue(j.status.Get("startTime")), "field is immutable for unsuspended job once set", "status", "startTime")
	}
	if j.oldOutcome.succeeding && !j.outcome.succeeding {
		j.addConditionsError("cannot disable the SuccessCriteriaMet=True condition")
	}
	if j.oldOutcome.complete && !j.oldOutcome.succeeding && j.outcome.succeeding {
		j.addConditionsError("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}

// scalesDown reports whether the Job is an elastic indexed Job, whose completions, and therefore succeeded pods, may
// decrease.
func (j jobChange) scalesDown() bool {
	return j.spec.Get("completionMode").Text() == "Indexed" && document.Equal(j.spec.Get("completions"), j.spec.Get("parallelism"))
}

// resumes reports whether the update changes the condition Suspended from True to False.
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
