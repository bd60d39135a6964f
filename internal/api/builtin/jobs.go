package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// maxExitCodes is the maximum number of exit codes in a rule of a pod failure policy.
const maxExitCodes = 255

// checkExitCodes validates onExitCodes of a pod failure policy rule: containerName must be the name of a container of the pod
// template, and values must be distinct and in ascending order.
func checkExitCodes(c *checker, on, _ document.Value) {
	if name := on.Get("containerName"); !isAbsentOrNull(name) {
		spec, _, _ := c.enclosing("JobSpec")
		pod := spec.Lookup("template", "spec")
		if c.firstIndex(pod.Get("containers"), "name", name.Text(), false) < 0 && c.firstIndex(pod.Get("initContainers"), "name", name.Text(), false) < 0 {
			c.invalid(name.Text(), "must be one of the container or initContainer names in the pod template", "containerName")
		}
	}
	c.push("values")
	c.checkExitCodeValues(on.Get("values"), on.Get("operator").Text())
	c.pop()
}

func (c *checker) checkExitCodeValues(values document.Value, operator string) {
	if values.Len() == 0 {
		c.invalid(errorValue(values), "at least one value is required")
	} else if values.Len() > maxExitCodes {
		c.tooMany(values.Len(), maxExitCodes)
	}
	seen, last, isOrdered := map[int64]bool{}, int64(0), true
	for i, v := range values.Items() {
		n := intValue(v)
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
		c.invalid(errorValue(values), "must be ordered")
	}
}

// checkOneRequirement requires that a pod failure policy rule has either onExitCodes or onPodConditions.
func checkOneRequirement(c *checker, rule, _ document.Value) {
	codes, conditions := !isAbsentOrNull(rule.Get("onExitCodes")), rule.Get("onPodConditions").Len() > 0
	switch {
	case codes && conditions:
		c.invalid(field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
	case !codes && !conditions:
		c.invalid(field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
	}
}

// maxIndexesLength is the maximum length of a string of indexes, such as succeededIndexes, in bytes.
const maxIndexesLength = 64 * 1024

// checkSuccessRule validates a rule of a Job's success policy: succeededIndexes and succeededCount.
func checkSuccessRule(c *checker, rule, _ document.Value) {
	count, indexes := rule.Get("succeededCount"), rule.Get("succeededIndexes")
	if isAbsentOrNull(count) && isAbsentOrNull(indexes) {
		c.required("at least one of succeededCount or succeededIndexes must be specified")
	}
	spec, _, _ := c.enclosing("JobSpec")
	completions, total := intValue(spec.Get("completions")), int64(0)
	if !isAbsentOrNull(indexes) {
		if len(indexes.Text()) > maxIndexesLength {
			c.tooLong(maxIndexesLength, "succeededIndexes")
		}
		var problem string
		if total, problem = countIndexes(indexes.Text(), completions); problem != "" {
			c.invalid(indexes.Text(), "error parsing succeededIndexes: "+problem, "succeededIndexes")
		}
	}
	if isAbsentOrNull(count) {
		return
	}
	n := intValue(count)
	if n < 0 {
		c.invalid(n, "must be greater than or equal to 0", "succeededCount")
	}
	if n > completions {
		c.invalid(n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions), "succeededCount")
	}
	if !isAbsentOrNull(indexes) && n > total {
		c.invalid(n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total), "succeededCount")
	}
}

// countIndexes returns the number of indexes in a string such as 0,2-4, or a message in problem if the string is invalid: the
// indexes must be in ascending order and less than completions.
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

// The labels that kube-apiserver sets in the pod template of a Job with a generated selector. The labels without a prefix are
// legacy labels.
const (
	jobUIDLabel, oldJobUIDLabel   = "batch.kubernetes.io/controller-uid", "controller-uid"
	jobNameLabel, oldJobNameLabel = "batch.kubernetes.io/job-name", "job-name"
)

// checkGeneratedSelector requires that a Job without manualSelector has the selector and the pod labels that kube-apiserver
// generates for it.
func checkGeneratedSelector(c *checker, job, oldJob document.Value) {
	selector := job.Lookup("spec", "selector")
	if job.Lookup("spec", "manualSelector").Bool() || isAbsentOrNull(selector) {
		return
	}
	uid, name := job.Lookup("metadata", "uid"), job.Lookup("metadata", "name")
	if uid.Text() == "" {
		c.required("", "metadata", "uid")
	}
	want := []document.Field{{Name: oldJobUIDLabel, Value: uid}, {Name: oldJobNameLabel, Value: name}}
	if old := oldJob.Lookup("spec", "template", "metadata", "labels"); !c.updating || !isAbsentOrNull(old.Get(jobUIDLabel)) && !isAbsentOrNull(old.Get(jobNameLabel)) {
		want = append(want, document.Field{Name: jobUIDLabel, Value: uid}, document.Field{Name: jobNameLabel, Value: name})
	}
	labels := job.Lookup("spec", "template", "metadata", "labels")
	c.push("spec")
	c.push("template")
	c.push("metadata")
	c.push("labels")
	for _, label := range want {
		c.pushKey(label.Name)
		if has := labels.Get(label.Name); isAbsentOrNull(has) {
			c.required("must be '" + label.Value.Text() + "'")
		} else if has.Text() != label.Value.Text() {
			c.invalid(errorMap(labels), "must be '"+label.Value.Text()+"'")
		}
		c.pop()
	}
	c.path = c.path[:len(c.path)-4]
	if matchSelector(selector, document.NewMap(want...)) == selectorDiffers {
		c.invalid(errorValue(selector), "`selector` not auto-generated", "spec", "selector")
	}
}

func checkJobSelector(c *checker, job, _ document.Value) {
	have := job.Lookup("spec", "template", "metadata", "labels")
	if matchSelector(job.Lookup("spec", "selector"), have) == selectorDiffers {
		c.invalid(errorMap(have), "`selector` does not match template `labels`", "spec", "template", "metadata", "labels")
	}
}

// checkJobHostnames requires that the hostnames of an indexed Job's pods, NAME-INDEX, are valid DNS labels.
func checkJobHostnames(c *checker, job, _ document.Value) {
	spec, name := job.Get("spec"), job.Lookup("metadata", "name").Text()
	n := intValue(spec.Get("completions"))
	if spec.Get("completionMode").Text() != "Indexed" || n <= 0 {
		return
	}
	if longest := fmt.Sprintf("%s-%d", name, n-1); len(validation.IsDNS1123Label(longest)) > 0 {
		c.invalid(name, "will not able to create pod with invalid DNS label: "+longest, "metadata", "name")
	}
}

func checkJobCompletions(c *checker, job, oldJob document.Value) {
	spec := job.Get("spec")
	value, old := spec.Get("completions"), oldJob.Lookup("spec", "completions")
	if value.Text() == old.Text() {
		return
	}
	switch {
	case spec.Get("completionMode").Text() != "Indexed":
		c.invalid(errorValue(value), "field is immutable", "spec", "completions")
	case !isAbsentOrNull(value) && intValue(value) != intValue(spec.Get("parallelism")):
		c.invalid(intValue(value), "can only be modified in tandem with spec.parallelism", "spec", "completions")
	}
}

// Limits of an indexed Job with backoffLimitPerIndex.
const (
	// maxFailedIndexes is the maximum value of maxFailedIndexes for any number of completions.
	maxFailedIndexes = 100_000
	// manyCompletions is the number of completions above which maxFailedOfMany and maxParallelOfMany apply.
	manyCompletions = 100_000
	// maxFailedOfMany is the maximum value of maxFailedIndexes for a Job with many completions.
	maxFailedOfMany = 10_000
	// maxParallelOfMany is the maximum parallelism of a Job with many completions.
	maxParallelOfMany = 10_000
	// manyIndexesLimitDetail is the detail of the errors about maxFailedOfMany and maxParallelOfMany.
	manyIndexesLimitDetail = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
)

func checkFailedIndexes(c *checker, spec, _ document.Value) {
	failed, completions, parallelism := spec.Get("maxFailedIndexes"), spec.Get("completions"), spec.Get("parallelism")
	n := intValue(failed)
	if !isAbsentOrNull(completions) && !isAbsentOrNull(failed) && n > intValue(completions) {
		c.invalid(n, "must be less than or equal to completions", "maxFailedIndexes")
	}
	if n > maxFailedIndexes {
		c.invalid(n, "must be less than or equal to 100000", "maxFailedIndexes")
	}
	if intValue(completions) <= manyCompletions || isAbsentOrNull(spec.Get("backoffLimitPerIndex")) {
		return
	}
	if isAbsentOrNull(failed) {
		c.required("must be specified when completions is above 100000", "maxFailedIndexes")
	}
	if intValue(parallelism) > maxParallelOfMany {
		c.invalid(intValue(parallelism), manyIndexesLimitDetail, "parallelism")
	}
	if n > maxFailedOfMany {
		c.invalid(n, manyIndexesLimitDetail, "maxFailedIndexes")
	}
}

// checkJobTemplate rejects changes of a Job's pod template. Scheduling directives and container resources may change while the
// Job is suspended and has no active pods.
func checkJobTemplate(c *checker, job, oldJob document.Value) {
	value, old := job.Lookup("spec", "template"), oldJob.Lookup("spec", "template")
	t, _ := c.kind.Lookup("spec", "template")
	mutable := isSuspendedIdle(oldJob)
	if mutable {
		old = copyDirectives(old, value)
	}
	if !oldJob.Lookup("spec", "suspend").Bool() || !mutable {
		if !semanticEqual(t, false, value, old) {
			c.invalid(errorValue(value), "field is immutable", "spec", "template")
		}
		return
	}
	spec, _ := fieldType(t, "spec")
	newSpec, oldSpec := value.Get("spec"), old.Get("spec")
	for _, list := range []string{"containers", "initContainers"} {
		oldSpec = copyResources(oldSpec, newSpec, list)
	}
	if !semanticEqual(spec, false, newSpec, oldSpec) {
		c.invalid(errorValue(newSpec), "field is immutable", "spec", "template", "spec")
	}
}

// isSuspendedIdle reports whether a Job is suspended and has no active pods.
func isSuspendedIdle(job document.Value) bool {
	status := job.Get("status")
	stopped := isAbsentOrNull(status.Get("startTime"))
	for _, condition := range status.Get("conditions").Items() {
		stopped = stopped || condition.Get("type").Text() == "Suspended" && condition.Get("status").Text() == "True"
	}
	return job.Lookup("spec", "suspend").Bool() && stopped && intValue(status.Get("active")) == 0
}

// copyDirectives returns template with the scheduling directives of source, which is a pod template, too: labels, annotations,
// nodeSelector, tolerations, schedulingGates and nodeAffinity.
func copyDirectives(template, source document.Value) document.Value {
	meta, spec := template.Get("metadata"), template.Get("spec")
	for _, name := range []string{"annotations", "labels"} {
		meta = setField(meta, name, source.Lookup("metadata", name))
	}
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		spec = setField(spec, name, source.Lookup("spec", name))
	}
	current, old := source.Lookup("spec", "affinity"), spec.Get("affinity")
	switch {
	case isAbsentOrNull(current) && isAbsentOrNull(old):
	case isAbsentOrNull(current):
		if old = old.Without("nodeAffinity"); isEmpty(old) {
			spec = spec.Without("affinity")
		} else {
			spec = spec.With("affinity", old)
		}
	default:
		if old.Kind() != document.Map {
			old = document.NewMap()
		}
		spec = spec.With("affinity", setField(old, "nodeAffinity", current.Get("nodeAffinity")))
	}
	return setField(template, "metadata", meta).With("spec", spec)
}

// copyResources returns spec in which each container of the given list has the resources of the container at the same index of
// that list in source, which is a pod spec, too. Containers whose names differ are not changed.
func copyResources(spec, source document.Value, list string) document.Value {
	old, current := spec.Get(list), source.Get(list)
	if old.Kind() != document.List || old.Len() != current.Len() {
		return spec
	}
	containers := make([]document.Value, old.Len())
	for i := range containers {
		containers[i] = old.At(i)
		if containers[i].Get("name").Text() == current.At(i).Get("name").Text() {
			containers[i] = setField(containers[i], "resources", current.At(i).Get("resources"))
		}
	}
	return spec.With(list, document.NewList(containers...))
}

// setField returns m with the field name set to v, or without that field if v is absent. If m is not a map, setField starts
// with an empty map.
func setField(m document.Value, name string, v document.Value) document.Value {
	if v.IsAbsent() {
		return m.Without(name)
	}
	if m.Kind() != document.Map {
		m = document.NewMap()
	}
	return m.With(name, v)
}
