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

func checkPort(c *checker, value, _ document.Value) {
	if n := intValue(value); n < 1 || n > 65535 {
		c.invalidAll(n, validation.IsValidPortNum(int(n)))
	}
}

func checkPortOrName(c *checker, value, old document.Value) {
	if value.Kind() == document.String {
		c.invalidAll(value.Text(), formats["port-name"].check(value.Text()))
		return
	}
	checkPort(c, value, old)
}

func checkUserID(c *checker, value, _ document.Value) {
	c.invalidAll(intValue(value), validation.IsValidUserID(intValue(value)))
}

func checkGroupID(c *checker, value, _ document.Value) {
	c.invalidAll(intValue(value), validation.IsValidGroupID(intValue(value)))
}

// addErrors adds errs, which a function of apimachinery returned for a nil path, and replaces their empty path with the current
// path.
func (c *checker) addErrors(errs field.ErrorList) {
	for _, e := range errs {
		c.fail(e.Type, e.BadValue, e.Detail)
	}
}

func checkIP(c *checker, value, _ document.Value) {
	c.addErrors(validation.IsValidIPForLegacyField(nil, value.Text(), true, nil))
}

// checkNewIP requires a valid IP address, unless the same list of the live object contains the address.
func checkNewIP(c *checker, value, _ document.Value) {
	if !c.isInLiveList(value.Text()) {
		c.addErrors(validation.IsValidIPForLegacyField(nil, value.Text(), true, nil))
	}
}

// checkNewCIDR requires a valid CIDR, unless the same list of the live object contains it.
func checkNewCIDR(c *checker, value, _ document.Value) {
	text := strings.TrimSpace(value.Text())
	if !c.isInLiveList(text) {
		c.addErrors(validation.IsValidCIDRForLegacyField(nil, text, true, nil))
	}
}

// isInLiveList reports whether the live object's list at the current path contains text. If that list is inside another list,
// isInLiveList reports whether the spec of the live object contains text anywhere. Like kube-apiserver, callers accept an
// unchanged text even if it is invalid.
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

func checkSysctlName(c *checker, value, _ document.Value) {
	if name := value.Text(); len(name) > 253 || !sysctlPattern().MatchString(name) {
		c.invalid(name, "must have at most 253 characters and match regex "+sysctlFormat)
	}
}

func checkFileMode(c *checker, value, _ document.Value) {
	if n := intValue(value); n < 0 || n > 0o777 {
		c.invalid(n, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

func checkAbsolutePath(c *checker, value, _ document.Value) {
	if !strings.HasPrefix(value.Text(), "/") {
		c.invalid(value.Text(), "must be an absolute path")
	}
}

func checkTrimmed(c *checker, value, _ document.Value) {
	if text := value.Text(); text != strings.TrimSpace(text) {
		c.invalid(text, "must not have leading or trailing whitespace")
	}
}

func checkCSIDriver(c *checker, value, _ document.Value) {
	name := value.Text()
	if name == "" {
		c.required("")
		return
	}
	if len(name) > 63 {
		c.tooLong(63)
	}
	for _, detail := range formats["dns-subdomain"].check(strings.ToLower(name)) {
		c.invalidBy("format=k8s-long-name-caseless", name, detail)
	}
}

func checkDomainPrefixedPath(c *checker, value, _ document.Value) {
	c.addErrors(validation.IsDomainPrefixedPath(nil, value.Text()))
}

func checkAnyGroupVersion(c *checker, value, _ document.Value) {
	if _, err := schema.ParseGroupVersion(value.Text()); err != nil {
		c.invalid(value.Text(), err.Error())
	}
}

func checkGroupVersion(c *checker, value, _ document.Value) {
	if gv, err := schema.ParseGroupVersion(value.Text()); err != nil {
		c.invalid(value.Text(), err.Error())
	} else if gv.Group == "" && !(c.updating && c.isUnchanged(value)) {
		c.invalid(value.Text(), "apiVersion must specify API group")
	}
}

func checkQualifiedFinalizer(c *checker, value, _ document.Value) {
	if !isQualifiedFinalizer(value.Text()) {
		c.invalid(value.Text(), "name is neither a standard finalizer name nor is it fully qualified")
	}
}

func checkIntOrPercentFormat(c *checker, value, _ document.Value) {
	if value.Kind() == document.String {
		c.invalidAll(value.Text(), validation.IsValidPercent(value.Text()))
		return
	}
	if n := intValue(value); n < 0 {
		c.invalid(n, "must be greater than or equal to 0")
	}
}

func checkPercentLimit(c *checker, value, _ document.Value) {
	if value.Kind() == document.String && isPercent(value.Text()) && intOrPercent(value) > 100 {
		c.invalid(value.Text(), "must not be greater than 100%")
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

// sortedFieldTexts returns the string values of the given field in all items of list, sorted.
func sortedFieldTexts(list document.Value, field string) []string {
	found := make([]string, 0, list.Len())
	for _, item := range list.Items() {
		found = append(found, item.Get(field).Text())
	}
	slices.Sort(found)
	return found
}
