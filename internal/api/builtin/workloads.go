package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // embeds the time zone database, so that validation does not depend on the host

	"github.com/robfig/cron/v3"

	"github.com/cadastre/cadastre/document"
)

func checkProgressDeadline(c *checker, spec, _ document.Value) {
	if n := intValue(spec.Get("progressDeadlineSeconds")); n <= intValue(spec.Get("minReadySeconds")) {
		c.invalid(n, "must be greater than minReadySeconds", "progressDeadlineSeconds")
	}
}

// checkRolloutProgress rejects a rolling update with maxUnavailable 0 and maxSurge 0, which could not make progress.
func checkRolloutProgress(c *checker, update, _ document.Value) {
	if maxUnavailable := update.Get("maxUnavailable"); intOrPercent(maxUnavailable) == 0 && intOrPercent(update.Get("maxSurge")) == 0 {
		c.invalid(errorValue(maxUnavailable), "may not be 0 when `maxSurge` is 0", "maxUnavailable")
	}
}

func checkDaemonRollout(c *checker, update, _ document.Value) {
	surge := update.Get("maxSurge")
	fewer, more := intOrPercent(update.Get("maxUnavailable")) != 0, intOrPercent(surge) != 0
	switch {
	case fewer && more:
		c.invalid(errorValue(surge), "may not be set when maxUnavailable is non-zero", "maxSurge")
	case !fewer && !more:
		c.required("cannot be 0 when maxSurge is 0", "maxUnavailable")
	}
}

func checkRevisionData(c *checker, data, _ document.Value) {
	if isAbsentOrNull(data) {
		c.required("data is mandatory")
	} else if data.Kind() != document.Map {
		c.required("data must be a valid JSON object")
	}
}

func checkCronJobName(c *checker, value, _ document.Value) {
	if len(value.Text()) > 52 {
		c.invalid(value.Text(), "must be no more than 52 characters")
	}
}

// scheduleProblems returns the messages for an invalid cron schedule. It recovers from panics of the parser, which some
// schedules cause.
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

func checkScheduleZone(c *checker, value, old document.Value) {
	if !strings.Contains(value.Text(), "TZ") {
		return
	}
	zone := c.innermostValue().Get("timeZone")
	switch tolerated := strings.Contains(old.Text(), "TZ"); {
	case !tolerated:
		c.invalid(value.Text(), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case !isAbsentOrNull(zone):
		c.invalid(value.Text(), "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

var zonePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`) })

func checkCronTimeZone(c *checker, spec, old document.Value) {
	zone := spec.Get("timeZone")
	if isAbsentOrNull(zone) || c.updating && old.Get("timeZone").Text() == zone.Text() {
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

// makeStatefulTemplate returns a check of a StatefulSet's pod template as the StatefulSet controller uses it: without
// hostname and subdomain, and with a volume for each of the volumeClaimTemplates, which replaces a volume of the same name.
func (book *rulebook) makeStatefulTemplate(args []string) (check, error) {
	template := book.blocks["PodTemplateSpec"]
	if len(args) > 0 || template == nil {
		return nil, fmt.Errorf("expected no arguments and a type PodTemplateSpec, received %q", args)
	}
	return func(c *checker, value, old document.Value) bool {
		c.run(template, statefulSetTemplate(value, c.innermostValue().Get("volumeClaimTemplates")), old)
		return true
	}, nil
}

func statefulSetTemplate(template, claims document.Value) document.Value {
	spec := template.Get("spec")
	if claims.Len() == 0 && isAbsentOrNull(spec.Get("hostname")) && isAbsentOrNull(spec.Get("subdomain")) {
		return template
	}
	spec = spec.Without("hostname").Without("subdomain")
	if claims.Len() == 0 {
		return template.With("spec", spec)
	}
	var volumes []document.Value
	named := map[string]bool{}
	for _, claim := range claims.Items() {
		name := claim.Lookup("metadata", "name").Text()
		if named[name] {
			continue
		}
		named[name] = true
		text := document.NewString(name)
		volumes = append(volumes, document.NewMap(document.Field{Name: "name", Value: text}, document.Field{
			Name: "persistentVolumeClaim", Value: document.NewMap(document.Field{Name: "claimName", Value: text}),
		}))
	}
	for _, volume := range spec.Get("volumes").Items() {
		if !named[volume.Get("name").Text()] {
			volumes = append(volumes, volume)
		}
	}
	return template.With("spec", spec.With("volumes", document.NewList(volumes...)))
}
