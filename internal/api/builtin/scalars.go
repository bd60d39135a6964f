package builtin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

func port(c *checker, now, _ document.Value) {
	if n := intValue(now); n < 1 || n > 65535 {
		c.invalidAll(n, validation.IsValidPortNum(int(n)))
	}
}

func portOrName(c *checker, now, old document.Value) {
	if now.Kind() == document.String {
		c.invalidAll(now.Text(), formats["port-name"].check(now.Text()))
		return
	}
	port(c, now, old)
}

func userID(c *checker, now, _ document.Value) {
	c.invalidAll(intValue(now), validation.IsValidUserID(intValue(now)))
}

func groupID(c *checker, now, _ document.Value) {
	c.invalidAll(intValue(now), validation.IsValidGroupID(intValue(now)))
}

// addErrors adds errors that a function of apimachinery returned for a nil path. It replaces their path with the current
// path.
func (c *checker) addErrors(errs field.ErrorList) {
	for _, e := range errs {
		c.fail(e.Type, e.BadValue, e.Detail)
	}
}

func ip(c *checker, now, _ document.Value) {
	c.addErrors(validation.IsValidIPForLegacyField(nil, now.Text(), true, nil))
}

// newIP requires a valid IP address, unless the same list of the live object contains the address.
func newIP(c *checker, now, _ document.Value) {
	if !c.isInLiveList(now.Text()) {
		c.addErrors(validation.IsValidIPForLegacyField(nil, now.Text(), true, nil))
	}
}

// newCIDR requires a valid CIDR, unless the same list of the live object contains it.
func newCIDR(c *checker, now, _ document.Value) {
	text := strings.TrimSpace(now.Text())
	if !c.isInLiveList(text) {
		c.addErrors(validation.IsValidCIDRForLegacyField(nil, text, true, nil))
	}
}

// isInLiveList reports whether the list at the current path contains a string in the live object. If the list is inside
// another list, it reports whether the spec of the live object contains the string anywhere. Like kube-apiserver, callers
// accept such a string even if it is invalid.
func (c *checker) isInLiveList(text string) bool {
	if !c.updating {
		return false
	}
	old := c.scopes[0].old
	if list := c.path[:len(c.path)-1]; !slices.ContainsFunc(list, func(s step) bool { return s.kind == stepItem }) {
		for _, s := range list {
			old = old.Get(s.name)
		}
		return hasText(old, text)
	}
	return hasText(old.Get("spec"), text)
}

func hasText(v document.Value, text string) bool {
	if v.Kind() == document.String {
		return v.Text() == text
	}
	for i := range v.Len() {
		if hasText(v.At(i), text) {
			return true
		}
	}
	return false
}

const sysctlFormat = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"

var sysctlPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(sysctlFormat) })

func sysctlName(c *checker, now, _ document.Value) {
	if name := now.Text(); len(name) > 253 || !sysctlPattern().MatchString(name) {
		c.invalid(name, "must have at most 253 characters and match regex "+sysctlFormat)
	}
}

func fileMode(c *checker, now, _ document.Value) {
	if n := intValue(now); n < 0 || n > 0o777 {
		c.invalid(n, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

func absolutePath(c *checker, now, _ document.Value) {
	if !strings.HasPrefix(now.Text(), "/") {
		c.invalid(now.Text(), "must be an absolute path")
	}
}

func trimmed(c *checker, now, _ document.Value) {
	if text := now.Text(); text != strings.TrimSpace(text) {
		c.invalid(text, "must not have leading or trailing whitespace")
	}
}

func csiDriver(c *checker, now, _ document.Value) {
	name := now.Text()
	if name == "" {
		c.required("")
		return
	}
	if len(name) > 63 {
		c.tooLong(63)
	}
	c.invalidAll(name, formats["dns-subdomain"].check(strings.ToLower(name)))
}

func domainPrefixedPath(c *checker, now, _ document.Value) {
	c.addErrors(validation.IsDomainPrefixedPath(nil, now.Text()))
}

func anyGroupVersion(c *checker, now, _ document.Value) {
	if _, err := schema.ParseGroupVersion(now.Text()); err != nil {
		c.invalid(now.Text(), err.Error())
	}
}

func groupVersion(c *checker, now, _ document.Value) {
	if gv, err := schema.ParseGroupVersion(now.Text()); err != nil {
		c.invalid(now.Text(), err.Error())
	} else if gv.Group == "" && !(c.updating && c.isUnchanged(now)) {
		c.invalid(now.Text(), "apiVersion must specify API group")
	}
}

func qualifiedFinalizer(c *checker, now, _ document.Value) {
	if !isQualifiedFinalizer(now.Text()) {
		c.invalid(now.Text(), "name is neither a standard finalizer name nor is it fully qualified")
	}
}

func intOrPercentFormat(c *checker, now, _ document.Value) {
	if now.Kind() == document.String {
		c.invalidAll(now.Text(), validation.IsValidPercent(now.Text()))
		return
	}
	if n := intValue(now); n < 0 {
		c.invalid(n, "must be greater than or equal to 0")
	}
}

func percentLimit(c *checker, now, _ document.Value) {
	if now.Kind() == document.String && isPercent(now.Text()) && intOrPercent(now) > 100 {
		c.invalid(now.Text(), "must not be greater than 100%")
	}
}

func isPercent(text string) bool {
	digits, ok := strings.CutSuffix(text, "%")
	return ok && digits != "" && allBytes(digits, isDigit)
}

// intOrPercent returns the value of an integer, or the number before the percent sign of a string; 0 for other strings.
func intOrPercent(v document.Value) int64 {
	if v.Kind() != document.String {
		return intValue(v)
	}
	n, _ := strconv.ParseInt(strings.TrimSuffix(v.Text(), "%"), 10, 64)
	return n
}

// stringItems returns the items of a list of strings.
func stringItems(list document.Value) []string {
	found := make([]string, 0, list.Len())
	for _, item := range list.Items() {
		found = append(found, item.Text())
	}
	return found
}

// sortedFieldTexts returns the string values of the named field in all items of a list, sorted.
func sortedFieldTexts(list document.Value, field string) []string {
	found := make([]string, 0, list.Len())
	for _, item := range list.Items() {
		found = append(found, item.Get(field).Text())
	}
	slices.Sort(found)
	return found
}
