package rules

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // time zones do not depend on what is installed

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

func progressDeadline(c *checker, spec, _ document.Value) {
	if n := number(spec.Get("progressDeadlineSeconds")); n <= number(spec.Get("minReadySeconds")) {
		c.invalid(n, "must be greater than minReadySeconds", "progressDeadlineSeconds")
	}
}

// rolloutMoves refuses a rollout that could neither add nor remove a pod.
func rolloutMoves(c *checker, update, _ document.Value) {
	if fewer := update.Get("maxUnavailable"); intOrPercent(fewer) == 0 && intOrPercent(update.Get("maxSurge")) == 0 {
		c.invalid(shown(fewer), "may not be 0 when `maxSurge` is 0", "maxUnavailable")
	}
}

func daemonMoves(c *checker, update, _ document.Value) {
	surge := update.Get("maxSurge")
	fewer, more := intOrPercent(update.Get("maxUnavailable")) != 0, intOrPercent(surge) != 0
	switch {
	case fewer && more:
		c.invalid(shown(surge), "may not be set when maxUnavailable is non-zero", "maxSurge")
	case !fewer && !more:
		c.required("cannot be 0 when maxSurge is 0", "maxUnavailable")
	}
}

func revisionData(c *checker, data, _ document.Value) {
	if isNothing(data) {
		c.required("data is mandatory")
	} else if data.Kind() != document.Map {
		c.required("data must be a valid JSON object")
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

// jobTemplate refuses a change of the template. While a job is suspended, where its pods go and
// how much they get may change.
func jobTemplate(c *checker, job, oldJob document.Value) {
	now, old := job.Lookup("spec", "template"), oldJob.Lookup("spec", "template")
	t, _ := c.kind.Lookup("spec", "template")
	if !oldJob.Lookup("spec", "suspend").Bool() {
		if !same(t, false, now, old) {
			c.invalid(shown(now), "field is immutable", "spec", "template")
		}
		return
	}
	spec, _ := below(t, "spec")
	free := []string{"nodeSelector", "tolerations", "schedulingGates", "affinity", "containers", "initContainers"}
	if !sameExcept(spec, now.Get("spec"), old.Get("spec"), free) {
		c.invalid(shown(now.Get("spec")), "field is immutable", "spec", "template", "spec")
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

func cronJobName(c *checker, now, _ document.Value) {
	if len(now.Text()) > 52 {
		c.invalid(now.Text(), "must be no more than 52 characters")
	}
}

// scheduleProblems are those of a schedule. The parser can panic on some.
func scheduleProblems(schedule string) (problems []string) {
	defer func() {
		if r := recover(); r != nil {
			problems = []string{fmt.Sprintf("invalid schedule format: %v", r)}
		}
	}()
	if _, err := cron.ParseStandard(schedule); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func scheduleZone(c *checker, now, old document.Value) {
	if !strings.Contains(now.Text(), "TZ") {
		return
	}
	zone := c.innermost().Get("timeZone")
	switch tolerated := strings.Contains(old.Text(), "TZ"); {
	case !tolerated:
		c.invalid(now.Text(), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case !isNothing(zone):
		c.invalid(now.Text(), "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

var zonePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`) })

func cronTimeZone(c *checker, spec, old document.Value) {
	zone := spec.Get("timeZone")
	if isNothing(zone) || c.updating && old.Get("timeZone").Text() == zone.Text() {
		return
	}
	c.invalidAll(zone.Text(), timeZoneProblems(zone.Text()), "timeZone")
}

func timeZoneProblems(zone string) (problems []string) {
	if zone == "" {
		return []string{"timeZone must be nil or non-empty string"}
	}
	for part := range strings.SplitSeq(zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart().MatchString(part) {
			return []string{"unknown time zone " + zone}
		}
	}
	if strings.EqualFold(zone, "Local") {
		problems = append(problems, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(zone); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}
