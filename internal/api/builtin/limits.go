package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// limitTypes are the types of LimitRange items that Kubernetes defines. Other types need a domain-qualified name.
var limitTypes = []string{"Pod", "Container", "PersistentVolumeClaim"}

func checkLimitType(c *checker, value, _ document.Value) {
	text := value.Text()
	problems := formats["qualified-name"].check(text)
	c.invalidAll(text, problems)
	if len(problems) == 0 && !strings.Contains(text, "/") && !slices.Contains(limitTypes, text) {
		c.invalid(text, "must be a standard limit type or fully qualified")
	}
}

// checkLimitAmounts validates the resource names of a LimitRange item, and requires that its min, max, default, defaultRequest
// and maxLimitRequestRatio are consistent for each resource.
func checkLimitAmounts(c *checker, limit, _ document.Value) {
	kind := limit.Get("type").Text()
	compared := []string{"max", "min"}
	c.checkLimitNames(limit, kind, "max", "min")
	if kind == "Pod" {
		for _, name := range []string{"default", "defaultRequest"} {
			if limit.Get(name).Len() > 0 {
				c.forbidden("may not be specified when `type` is 'Pod'", name)
			}
		}
	} else {
		c.checkLimitNames(limit, kind, "default", "defaultRequest")
		compared = append(compared, "default", "defaultRequest")
	}
	if kind == "PersistentVolumeClaim" && isAbsentOrNull(limit.Lookup("min", "storage")) && isAbsentOrNull(limit.Lookup("max", "storage")) {
		c.required("either minimum or maximum storage value is required, but neither was provided", "limits")
	}
	c.checkLimitNames(limit, kind, "maxLimitRequestRatio")
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
	amounts := resourceLimit{c: c, resource: resource}
	for _, list := range lists {
		amounts.read(list, limit.Lookup(list, resource))
	}
	amounts.check()
}

func (c *checker) checkLimitNames(limit document.Value, kind string, lists ...string) {
	for _, list := range lists {
		c.push(list)
		for name := range limit.Get(list).Fields() {
			c.pushKey(name)
			if kind == "Pod" || kind == "Container" {
				c.checkContainerResourceName(name)
			} else {
				c.checkResourceName(name)
			}
			c.pop()
		}
		c.pop()
	}
}

// resourceLimit holds the quantities of a LimitRange item for one resource. A quantity that the item does not set is nil.
type resourceLimit struct {
	c                                         *checker
	resource                                  string
	min, max, defaultLimit, request, maxRatio *resource.Quantity
}

func (l *resourceLimit) read(list string, v document.Value) {
	if isAbsentOrNull(v) {
		return
	}
	q := quantityValue(v)
	switch list {
	case "min":
		l.min = &q
	case "max":
		l.max = &q
	case "default":
		l.defaultLimit = &q
	case "defaultRequest":
		l.request = &q
	case "maxLimitRequestRatio":
		l.maxRatio = &q
	}
}

func exceeds(a, b *resource.Quantity) bool { return a != nil && b != nil && a.Cmp(*b) > 0 }

func (l *resourceLimit) report(list string, bad *resource.Quantity, detail string, of ...any) {
	l.c.push(list)
	l.c.pushKey(l.resource)
	l.c.invalid(bad.String(), fmt.Sprintf(detail, of...))
	l.c.pop()
	l.c.pop()
}

func (l *resourceLimit) check() {
	if exceeds(l.min, l.max) {
		l.report("min", l.min, "min value %s is greater than max value %s", l.min, l.max)
	}
	if exceeds(l.min, l.request) {
		l.report("defaultRequest", l.request, "min value %s is greater than default request value %s", l.min, l.request)
	}
	if exceeds(l.request, l.max) {
		l.report("defaultRequest", l.request, "default request value %s is greater than max value %s", l.request, l.max)
	}
	if exceeds(l.request, l.defaultLimit) {
		l.report("defaultRequest", l.request, "default request value %s is greater than default limit value %s", l.request, l.defaultLimit)
	}
	if exceeds(l.min, l.defaultLimit) {
		l.report("default", l.min, "min value %s is greater than default value %s", l.min, l.defaultLimit)
	}
	if exceeds(l.defaultLimit, l.max) {
		l.report("default", l.max, "default value %s is greater than max value %s", l.defaultLimit, l.max)
	}
	l.checkRatio()
	shared := isNativeResource(l.resource) && !isHugePagesResource(l.resource)
	if !shared && l.defaultLimit != nil && l.request != nil && l.defaultLimit.Cmp(*l.request) != 0 {
		l.report("defaultRequest", l.request, "default value %s must equal to defaultRequest value %s in %s", l.defaultLimit, l.request, l.resource)
	}
}

// checkRatio requires that maxLimitRequestRatio is at least 1 and at most max divided by min.
func (l *resourceLimit) checkRatio() {
	ratio := l.maxRatio
	if ratio == nil {
		return
	}
	if ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		l.report("maxLimitRequestRatio", ratio, "ratio %s is less than 1", ratio)
	}
	if l.min == nil || l.max == nil {
		return
	}
	value, minimum, maximum := float64(ratio.Value()), l.min.Value(), l.max.Value()
	if ratio.Value() < resource.MaxMilliValue && minimum < resource.MaxMilliValue && maximum < resource.MaxMilliValue {
		value, minimum, maximum = float64(ratio.MilliValue())/1000, l.min.MilliValue(), l.max.MilliValue()
	}
	if bound := float64(maximum) / float64(minimum); value > bound {
		l.report("maxLimitRequestRatio", ratio, "ratio %s is greater than max/min = %f", ratio, bound)
	}
}
