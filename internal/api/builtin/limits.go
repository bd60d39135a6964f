package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// limitTypes are what limits are about that need no domain.
var limitTypes = []string{"Pod", "Container", "PersistentVolumeClaim"}

func limitType(c *checker, now, _ document.Value) {
	text := now.Text()
	problems := formats["qualified-name"].check(text)
	c.invalidAll(text, problems)
	if len(problems) == 0 && !strings.Contains(text, "/") && !slices.Contains(limitTypes, text) {
		c.invalid(text, "must be a standard limit type or fully qualified")
	}
}

// limitAmounts checks the names of resources of a limit, and its amounts against each other.
func limitAmounts(c *checker, limit, _ document.Value) {
	kind := limit.Get("type").Text()
	compared := []string{"max", "min"}
	c.limitNames(limit, kind, "max", "min")
	if kind == "Pod" {
		for _, name := range []string{"default", "defaultRequest"} {
			if limit.Get(name).Len() > 0 {
				c.forbidden("may not be specified when `type` is 'Pod'", name)
			}
		}
	} else {
		c.limitNames(limit, kind, "default", "defaultRequest")
		compared = append(compared, "default", "defaultRequest")
	}
	if kind == "PersistentVolumeClaim" && isNothing(limit.Lookup("min", "storage")) && isNothing(limit.Lookup("max", "storage")) {
		c.required("either minimum or maximum storage value is required, but neither was provided", "limits")
	}
	c.limitNames(limit, kind, "maxLimitRequestRatio")
	compared = append(compared, "maxLimitRequestRatio")
	seen := map[string]bool{}
	for _, list := range compared {
		for name := range limit.Get(list).Fields() {
			if !seen[name] {
				seen[name] = true
				c.compareAmounts(limit, compared, name)
			}
		}
	}
}

func (c *checker) compareAmounts(limit document.Value, lists []string, resource string) {
	amounts := limitOf{c: c, resource: resource}
	for _, list := range lists {
		amounts.read(list, limit.Lookup(list, resource))
	}
	amounts.check()
}

func (c *checker) limitNames(limit document.Value, kind string, lists ...string) {
	for _, list := range lists {
		c.push(list)
		for name := range limit.Get(list).Fields() {
			c.pushKey(name)
			if kind == "Pod" || kind == "Container" {
				c.containerResourceName(name)
			} else {
				c.resourceName(name)
			}
			c.pop()
		}
		c.pop()
	}
}

// limitOf is what a limit says about one resource. What it does not say is nil.
type limitOf struct {
	c                                   *checker
	resource                            string
	min, max, usual, request, ratioMost *resource.Quantity
}

func (l *limitOf) read(list string, v document.Value) {
	if isNothing(v) {
		return
	}
	q := amount(v)
	switch list {
	case "min":
		l.min = &q
	case "max":
		l.max = &q
	case "default":
		l.usual = &q
	case "defaultRequest":
		l.request = &q
	case "maxLimitRequestRatio":
		l.ratioMost = &q
	}
}

func isMore(a, b *resource.Quantity) bool { return a != nil && b != nil && a.Cmp(*b) > 0 }

func (l *limitOf) wrong(list string, bad *resource.Quantity, detail string, of ...any) {
	l.c.push(list)
	l.c.pushKey(l.resource)
	l.c.invalid(bad.String(), fmt.Sprintf(detail, of...))
	l.c.pop()
	l.c.pop()
}

func (l *limitOf) check() {
	if isMore(l.min, l.max) {
		l.wrong("min", l.min, "min value %s is greater than max value %s", l.min, l.max)
	}
	if isMore(l.min, l.request) {
		l.wrong("defaultRequest", l.request, "min value %s is greater than default request value %s", l.min, l.request)
	}
	if isMore(l.request, l.max) {
		l.wrong("defaultRequest", l.request, "default request value %s is greater than max value %s", l.request, l.max)
	}
	if isMore(l.request, l.usual) {
		l.wrong("defaultRequest", l.request, "default request value %s is greater than default limit value %s", l.request, l.usual)
	}
	if isMore(l.min, l.usual) {
		l.wrong("default", l.min, "min value %s is greater than default value %s", l.min, l.usual)
	}
	if isMore(l.usual, l.max) {
		l.wrong("default", l.max, "default value %s is greater than max value %s", l.usual, l.max)
	}
	l.ratio()
	shared := isNativeResource(l.resource) && !isHugePagesResource(l.resource)
	if !shared && l.usual != nil && l.request != nil && l.usual.Cmp(*l.request) != 0 {
		l.wrong("defaultRequest", l.request, "default value %s must equal to defaultRequest value %s in %s", l.usual, l.request, l.resource)
	}
}

// ratio wants a ratio that limits between min and max can have.
func (l *limitOf) ratio() {
	ratio := l.ratioMost
	if ratio == nil {
		return
	}
	if ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		l.wrong("maxLimitRequestRatio", ratio, "ratio %s is less than 1", ratio)
	}
	if l.min == nil || l.max == nil {
		return
	}
	is, least, most := float64(ratio.Value()), l.min.Value(), l.max.Value()
	if ratio.Value() < resource.MaxMilliValue && least < resource.MaxMilliValue && most < resource.MaxMilliValue {
		is, least, most = float64(ratio.MilliValue())/1000, l.min.MilliValue(), l.max.MilliValue()
	}
	if bound := float64(most) / float64(least); is > bound {
		l.wrong("maxLimitRequestRatio", ratio, "ratio %s is greater than max/min = %f", ratio, bound)
	}
}
