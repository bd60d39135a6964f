package limitranger

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// podViolations returns an error for each limit of a LimitRange that the spec of a pod violates, in the order of the
// LimitRange's items.
func podViolations(items, spec document.Value) (errs []error) {
	for _, item := range items.Items() {
		switch item.Get("type").Text() {
		case "Container":
			for _, list := range []string{"containers", "initContainers"} {
				for _, container := range spec.Get(list).Items() {
					resources := container.Get("resources")
					errs = append(errs, newUsage(item, readQuantities(resources.Get("requests")), readQuantities(resources.Get("limits"))).violations()...)
				}
			}
		case "Pod":
			errs = append(errs, newUsage(item, podTotal(spec, "requests"), podTotal(spec, "limits")).violations()...)
		}
	}
	return errs
}

// claimViolations returns an error for each limit of a LimitRange that the spec of a PersistentVolumeClaim violates. Only
// the requests of a claim are compared, not its limits.
func claimViolations(items, spec document.Value) (errs []error) {
	for _, item := range items.Items() {
		if item.Get("type").Text() != "PersistentVolumeClaim" {
			continue
		}
		u := newUsage(item, readQuantities(spec.Lookup("resources", "requests")), nil)
		errs = u.each(errs, "min", u.checkMin)
		errs = u.each(errs, "max", u.checkMaxRequest)
	}
	return errs
}

// usage contains the requests and limits of an object that are compared with one item of a LimitRange.
type usage struct {
	item             document.Value
	itemType         string
	requests, limits quantities
}

func newUsage(item document.Value, requests, limits quantities) *usage {
	return &usage{item, item.Get("type").Text(), requests, limits}
}

// violations returns an error for each min, max and maxLimitRequestRatio of the item that the requests or limits violate.
func (u *usage) violations() (errs []error) {
	errs = u.each(errs, "min", u.checkMin)
	errs = u.each(errs, "max", u.checkMax)
	return u.each(errs, "maxLimitRequestRatio", u.checkRatio)
}

// each calls check for every resource in a field of the item, such as max, sorted by resource name, and appends the errors to
// errs.
func (u *usage) each(errs []error, field string, check func(name string, bound resource.Quantity) error) []error {
	bounds := readQuantities(u.item.Get(field))
	for _, name := range bounds.names() {
		if err := check(name, bounds[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (u *usage) checkMin(name string, bound resource.Quantity) error {
	request, hasRequest := u.requests[name]
	limit, hasLimit := u.limits[name]
	r, l, b := commonUnit(request, limit, bound)
	text := fmt.Sprintf("minimum %s usage per %s is %s", name, u.itemType, bound.String())
	switch {
	case !hasRequest:
		return fmt.Errorf("%s.  No request is specified", text)
	case r < b:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	case hasLimit && l < b:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	}
	return nil
}

func (u *usage) checkMax(name string, bound resource.Quantity) error {
	request, hasRequest := u.requests[name]
	limit, hasLimit := u.limits[name]
	r, l, b := commonUnit(request, limit, bound)
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, u.itemType, bound.String())
	switch {
	case !hasLimit:
		return fmt.Errorf("%s.  No limit is specified", text)
	case l > b:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	case hasRequest && r > b:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	}
	return nil
}

// checkMaxRequest returns an error if the request exceeds the bound or is missing. Unlike checkMax it ignores limits.
func (u *usage) checkMaxRequest(name string, bound resource.Quantity) error {
	request, hasRequest := u.requests[name]
	r, _, b := commonUnit(request, resource.Quantity{}, bound)
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, u.itemType, bound.String())
	switch {
	case !hasRequest:
		return fmt.Errorf("%s.  No request is specified", text)
	case r > b:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	}
	return nil
}

func (u *usage) checkRatio(name string, bound resource.Quantity) error {
	request, limit := u.requests[name], u.limits[name]
	r, l, _ := commonUnit(request, limit, bound)
	text := fmt.Sprintf("%s max limit to request ratio per %s is %s", name, u.itemType, bound.String())
	switch {
	case r == 0:
		return fmt.Errorf("%s, but no request is specified or request is 0", text)
	case l == 0:
		return fmt.Errorf("%s, but no limit is specified or limit is 0", text)
	}
	ratio := float64(l) / float64(r)
	scaled, most := ratio, float64(bound.Value())
	if bound.Value() <= resource.MaxMilliValue {
		scaled, most = ratio*1000, float64(bound.MilliValue())
	}
	if scaled > most {
		return fmt.Errorf("%s, but provided ratio is %f", text, ratio)
	}
	return nil
}

// commonUnit returns a request, a limit and a bound in the same unit: in thousandths, or in whole units if a value is too
// large for thousandths.
func commonUnit(request, limit, bound resource.Quantity) (r, l, b int64) {
	r, l, b = request.Value(), limit.Value(), bound.Value()
	if r <= resource.MaxMilliValue && l <= resource.MaxMilliValue && b <= resource.MaxMilliValue {
		r, l, b = request.MilliValue(), limit.MilliValue(), bound.MilliValue()
	}
	return r, l, b
}
