package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// mostExitCodes is how many exit codes a rule of a pod failure policy can name.
const mostExitCodes = 255

// exitCodes checks which exit codes of which container a rule is about.
func exitCodes(c *checker, on, _ document.Value) {
	if name := on.Get("containerName"); !isNothing(name) {
		spec, _, _ := c.enclosing("JobSpec")
		pod := spec.Lookup("template", "spec")
		if c.first(pod.Get("containers"), "name", name.Text(), false) < 0 && c.first(pod.Get("initContainers"), "name", name.Text(), false) < 0 {
			c.invalid(name.Text(), "must be one of the container or initContainer names in the pod template", "containerName")
		}
	}
	c.push("values")
	c.exitCodeValues(on.Get("values"), on.Get("operator").Text())
	c.pop()
}

func (c *checker) exitCodeValues(values document.Value, operator string) {
	if values.Len() == 0 {
		c.invalid(shown(values), "at least one value is required")
	} else if values.Len() > mostExitCodes {
		c.tooMany(values.Len(), mostExitCodes)
	}
	seen, last, isOrdered := map[int64]bool{}, int64(0), true
	for i, v := range values.Items() {
		n := number(v)
		c.pushItem(i)
		if operator == "In" && n == 0 {
			c.invalid(n, "must not be 0 for the In operator")
		}
		if seen[n] {
			c.duplicate(n)
		}
		c.pop()
		seen[n] = true
		isOrdered = isOrdered && (i == 0 || last <= n)
		last = n
	}
	if !isOrdered {
		c.invalid(shown(values), "must be ordered")
	}
}

// oneRequirement wants a rule to be about exit codes or about conditions of pods.
func oneRequirement(c *checker, rule, _ document.Value) {
	codes, conditions := !isNothing(rule.Get("onExitCodes")), rule.Get("onPodConditions").Len() > 0
	switch {
	case codes && conditions:
		c.invalid(field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
	case !codes && !conditions:
		c.invalid(field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
	}
}

// mostIndexesText is how long a list of indexes may be.
const mostIndexesText = 64 * 1024

// successRule checks which indexes must succeed, and how many of them.
func successRule(c *checker, rule, _ document.Value) {
	count, indexes := rule.Get("succeededCount"), rule.Get("succeededIndexes")
	if isNothing(count) && isNothing(indexes) {
		c.required("at least one of succeededCount or succeededIndexes must be specified")
	}
	spec, _, _ := c.enclosing("JobSpec")
	completions, total := number(spec.Get("completions")), int64(0)
	if !isNothing(indexes) {
		if len(indexes.Text()) > mostIndexesText {
			c.tooLong(mostIndexesText, "succeededIndexes")
		}
		var problem string
		if total, problem = countIndexes(indexes.Text(), completions); problem != "" {
			c.invalid(indexes.Text(), "error parsing succeededIndexes: "+problem, "succeededIndexes")
		}
	}
	if isNothing(count) {
		return
	}
	n := number(count)
	if n < 0 {
		c.invalid(n, "must be greater than or equal to 0", "succeededCount")
	}
	if n > completions {
		c.invalid(n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions), "succeededCount")
	}
	if !isNothing(indexes) && n > total {
		c.invalid(n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total), "succeededCount")
	}
}

// countIndexes counts the indexes in a text such as 0,2-4, which must be in order.
func countIndexes(text string, completions int64) (total int64, problem string) {
	if text == "" {
		return 0, ""
	}
	last := int64(-1)
	for i, part := range strings.Split(text, ",") {
		first, end, problem := readInterval(part, completions)
		if problem != "" {
			return 0, problem
		}
		if i > 0 && last >= first {
			return 0, fmt.Sprintf("non-increasing order, previous: %d, current: %d", last, first)
		}
		total += end - first + 1
		last = end
	}
	return total, ""
}

func readInterval(text string, completions int64) (first, last int64, problem string) {
	parts := strings.Split(text, "-")
	if len(parts) > 2 {
		return 0, 0, fmt.Sprintf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	var ends [2]int64
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return 0, 0, fmt.Sprintf("cannot convert string to integer for index: %q", part)
		}
		if n >= completions {
			return 0, 0, fmt.Sprintf("too large index: %q", part)
		}
		ends[i] = n
	}
	if len(parts) == 1 {
		return ends[0], ends[0], ""
	}
	if ends[0] >= ends[1] {
		return 0, 0, fmt.Sprintf("non-increasing order, previous: %d, current: %d", ends[0], ends[1])
	}
	return ends[0], ends[1], ""
}

// The labels that kube-apiserver gives to the pods of a job whose selector it writes itself. Those
// without a domain are older.
const (
	jobUIDLabel, oldJobUIDLabel   = "batch.kubernetes.io/controller-uid", "controller-uid"
	jobNameLabel, oldJobNameLabel = "batch.kubernetes.io/job-name", "job-name"
)

// generatedSelector wants the labels that were written for a job to be those of this job.
func generatedSelector(c *checker, job, oldJob document.Value) {
	selector := job.Lookup("spec", "selector")
	if job.Lookup("spec", "manualSelector").Bool() || isNothing(selector) {
		return
	}
	uid, name := job.Lookup("metadata", "uid"), job.Lookup("metadata", "name")
	if uid.Text() == "" {
		c.required("", "metadata", "uid")
	}
	want := []document.Field{{Name: oldJobUIDLabel, Value: uid}, {Name: oldJobNameLabel, Value: name}}
	if was := oldJob.Lookup("spec", "template", "metadata", "labels"); !c.updating || !isNothing(was.Get(jobUIDLabel)) && !isNothing(was.Get(jobNameLabel)) {
		want = append(want, document.Field{Name: jobUIDLabel, Value: uid}, document.Field{Name: jobNameLabel, Value: name})
	}
	labels := job.Lookup("spec", "template", "metadata", "labels")
	c.push("spec")
	c.push("template")
	c.push("metadata")
	c.push("labels")
	for _, label := range want {
		c.pushKey(label.Name)
		if has := labels.Get(label.Name); isNothing(has) {
			c.required("must be '" + label.Value.Text() + "'")
		} else if has.Text() != label.Value.Text() {
			c.invalid(shownMap(labels), "must be '"+label.Value.Text()+"'")
		}
		c.pop()
	}
	c.where = c.where[:len(c.where)-4]
	if matchSelector(selector, document.NewMap(want...)) == differs {
		c.invalid(shown(selector), "`selector` not auto-generated", "spec", "selector")
	}
}

func jobSelects(c *checker, job, _ document.Value) {
	have := job.Lookup("spec", "template", "metadata", "labels")
	if matchSelector(job.Lookup("spec", "selector"), have) == differs {
		c.invalid(shownMap(have), "`selector` does not match template `labels`", "spec", "template", "metadata", "labels")
	}
}

// jobHostnames wants the names of an indexed job's pods to be hostnames.
func jobHostnames(c *checker, job, _ document.Value) {
	spec, name := job.Get("spec"), job.Lookup("metadata", "name").Text()
	n := number(spec.Get("completions"))
	if spec.Get("completionMode").Text() != "Indexed" || n <= 0 {
		return
	}
	if longest := fmt.Sprintf("%s-%d", name, n-1); len(validation.IsDNS1123Label(longest)) > 0 {
		c.invalid(name, "will not able to create pod with invalid DNS label: "+longest, "metadata", "name")
	}
}

func jobCompletions(c *checker, job, oldJob document.Value) {
	spec := job.Get("spec")
	now, old := spec.Get("completions"), oldJob.Lookup("spec", "completions")
	if now.Text() == old.Text() {
		return
	}
	switch {
	case spec.Get("completionMode").Text() != "Indexed":
		c.invalid(shown(now), "field is immutable", "spec", "completions")
	case !isNothing(now) && number(now) != number(spec.Get("parallelism")):
		c.invalid(number(now), "can only be modified in tandem with spec.parallelism", "spec", "completions")
	}
}

// Limits of a job that counts its indexes.
const (
	mostFailedIndexes    = 100_000
	manyCompletions      = 100_000
	mostFailedOfMany     = 10_000
	mostParallelOfMany   = 10_000
	forManyWithIndexOnes = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
)

func failedIndexes(c *checker, spec, _ document.Value) {
	failed, completions, parallelism := spec.Get("maxFailedIndexes"), spec.Get("completions"), spec.Get("parallelism")
	n := number(failed)
	if !isNothing(completions) && !isNothing(failed) && n > number(completions) {
		c.invalid(n, "must be less than or equal to completions", "maxFailedIndexes")
	}
	if n > mostFailedIndexes {
		c.invalid(n, "must be less than or equal to 100000", "maxFailedIndexes")
	}
	if number(completions) <= manyCompletions || isNothing(spec.Get("backoffLimitPerIndex")) {
		return
	}
	if isNothing(failed) {
		c.required("must be specified when completions is above 100000", "maxFailedIndexes")
	}
	if number(parallelism) > mostParallelOfMany {
		c.invalid(number(parallelism), forManyWithIndexOnes, "parallelism")
	}
	if n > mostFailedOfMany {
		c.invalid(n, forManyWithIndexOnes, "maxFailedIndexes")
	}
}

// jobTemplate refuses a change of the template. Where pods go and what they get may change while
// none of them runs.
func jobTemplate(c *checker, job, oldJob document.Value) {
	now, old := job.Lookup("spec", "template"), oldJob.Lookup("spec", "template")
	t, _ := c.kind.Lookup("spec", "template")
	mutable := isWaiting(oldJob)
	if mutable {
		old = withDirectives(old, now)
	}
	if !oldJob.Lookup("spec", "suspend").Bool() || !mutable {
		if !same(t, false, now, old) {
			c.invalid(shown(now), "field is immutable", "spec", "template")
		}
		return
	}
	spec, _ := below(t, "spec")
	is, was := now.Get("spec"), old.Get("spec")
	for _, list := range []string{"containers", "initContainers"} {
		was = withResources(was, is, list)
	}
	if !same(spec, false, is, was) {
		c.invalid(shown(is), "field is immutable", "spec", "template", "spec")
	}
}

// isWaiting reports whether a job is suspended and has no pods.
func isWaiting(job document.Value) bool {
	status := job.Get("status")
	stopped := isNothing(status.Get("startTime"))
	for _, condition := range status.Get("conditions").Items() {
		stopped = stopped || condition.Get("type").Text() == "Suspended" && condition.Get("status").Text() == "True"
	}
	return job.Lookup("spec", "suspend").Bool() && stopped && number(status.Get("active")) == 0
}

// withDirectives returns a template with all that says where pods go from another.
func withDirectives(template, from document.Value) document.Value {
	meta, spec := template.Get("metadata"), template.Get("spec")
	for _, name := range []string{"annotations", "labels"} {
		meta = withValue(meta, name, from.Lookup("metadata", name))
	}
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		spec = withValue(spec, name, from.Lookup("spec", name))
	}
	is, was := from.Lookup("spec", "affinity"), spec.Get("affinity")
	switch {
	case isNothing(is) && isNothing(was):
	case isNothing(is):
		if was = was.Without("nodeAffinity"); isEmpty(was) {
			spec = spec.Without("affinity")
		} else {
			spec = spec.With("affinity", was)
		}
	default:
		if was.Kind() != document.Map {
			was = document.NewMap()
		}
		spec = spec.With("affinity", withValue(was, "nodeAffinity", is.Get("nodeAffinity")))
	}
	return withValue(template, "metadata", meta).With("spec", spec)
}

// withResources returns the spec of a pod with the resources of containers from another, where
// they are the same containers.
func withResources(spec, from document.Value, list string) document.Value {
	was, is := spec.Get(list), from.Get(list)
	if was.Kind() != document.List || was.Len() != is.Len() {
		return spec
	}
	containers := make([]document.Value, was.Len())
	for i := range containers {
		containers[i] = was.At(i)
		if containers[i].Get("name").Text() == is.At(i).Get("name").Text() {
			containers[i] = withValue(containers[i], "resources", is.At(i).Get("resources"))
		}
	}
	return spec.With(list, document.NewList(containers...))
}

// withValue sets a field, or removes it if the value is absent. What is no map becomes one.
func withValue(m document.Value, name string, v document.Value) document.Value {
	if v.IsAbsent() {
		return m.Without(name)
	}
	if m.Kind() != document.Map {
		m = document.NewMap()
	}
	return m.With(name, v)
}
