package builtin

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// statusChecks returns the checks of statuses that are Go functions, by their names in rules.
func statusChecks() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"not-decremented": checkNotDecremented, "new-item-ip": checkNewItemIP, "dual-stack": checkDualStack, "node-addresses": checkNodeAddresses,
		"declared-features": checkDeclaredFeatures, "basic-resource": checkBasicResource, "resize-status": checkResizeStatus,
		"claim-resource": checkClaimResource, "allocated-amounts": checkAllocatedAmounts,
		"attachment-metadata": checkAttachmentMetadata,
		"condition-reason":    checkConditionReason, "json-path": checkJSONPath,

		"pod-annotations-update": checkPodAnnotationsUpdate, "container-transitions": checkContainerTransitions, "own-claim": checkOwnClaim,
		"extended-claim": checkExtendedClaim, "host-ip": checkHostIP, "container-users": checkContainerUsers, "allocated-resources": checkAllocatedResources,

		"uncounted-pods": checkUncountedPods, "finished-job": checkFinishedJob, "job-indexes": checkJobIndexes,
		"job-conditions": checkJobConditions, "job-progress": checkJobProgress,

		"resource-version": checkResourceVersion, "migration-conditions": checkMigrationConditions,
	}
}

// checkNotDecremented rejects an update that decrements or removes a counter.
func checkNotDecremented(c *checker, value, old document.Value) {
	if !isAbsentOrNull(old) && (isAbsentOrNull(value) || intValue(value) < intValue(old)) {
		c.invalid(intValue(value), "cannot be decremented")
	}
}

// checkNewItemIP requires a valid IP address in a field of a list item, unless an item of the same list in the live object has
// the address in the same field.
func checkNewItemIP(c *checker, value, _ document.Value) {
	if isPlainIP(value.Text()) || containsAtPath(c.scopes[0].old, c.path, value.Text()) {
		return
	}
	c.addErrors(validation.IsValidIPForLegacyField(nil, value.Text(), true, nil))
}

// isPlainIP reports whether a string is an IP address without a zone that is not an IPv4-mapped IPv6 address.
func isPlainIP(text string) bool {
	addr, err := netip.ParseAddr(text)
	return err == nil && !addr.Is4In6() && addr.Zone() == ""
}

// containsAtPath reports whether v contains the string text at the path rest; an item step in rest matches every index.
func containsAtPath(v document.Value, rest []step, text string) bool {
	if len(rest) == 0 {
		return v.Text() == text && (v.Kind() == document.String || isAbsentOrNull(v))
	}
	if rest[0].kind != stepItem {
		return containsAtPath(v.Get(rest[0].name), rest[1:], text)
	}
	for _, item := range v.Items() {
		if containsAtPath(item, rest[1:], text) {
			return true
		}
	}
	return false
}

// checkDualStack requires that a list of IP addresses, such as podIPs, contains at most one address of each IP family.
func checkDualStack(c *checker, list, _ document.Value) {
	if list.Len() < 2 {
		return
	}
	type address struct{ IP string }
	var ips []string
	var all []address
	for _, item := range list.Items() {
		ips, all = append(ips, item.Get("ip").Text()), append(all, address{item.Get("ip").Text()})
	}
	dual, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		e := field.InternalError(nil, fmt.Errorf("failed to check for dual stack with error:%v", err))
		c.fail(e.Type, e.BadValue, e.Detail)
	}
	if !dual || len(ips) > 2 {
		c.invalid(all, "may specify no more than one IP for each IP family")
	}
}

// checkNodeAddresses rejects duplicate items of a node's status.addresses.
func checkNodeAddresses(c *checker, addresses, _ document.Value) {
	type address struct{ Type, Address string }
	if addresses.Len() < 2 {
		return
	}
	seen := make(map[address]bool, addresses.Len())
	for i, item := range addresses.Items() {
		a := address{item.Get("type").Text(), item.Get("address").Text()}
		if seen[a] {
			c.pushItem(i)
			c.duplicate(a)
			c.pop()
		}
		seen[a] = true
	}
}

var featurePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`) })

// checkDeclaredFeatures requires that the feature names in a node's status.declaredFeatures are valid, sorted and distinct.
func checkDeclaredFeatures(c *checker, features, _ document.Value) {
	last := ""
	for i, feature := range features.Items() {
		name := feature.Text()
		c.pushItem(i)
		switch {
		case i > 0 && name == last:
			c.duplicate(name)
		case i > 0 && name < last:
			c.invalid(name, "list must be sorted alphabetically")
		}
		if problem := featureProblem(name); problem != "" {
			c.invalid(name, fmt.Sprintf("invalid feature name %q: %s", name, problem))
		}
		c.pop()
		last = name
	}
}

func featureProblem(name string) string {
	switch {
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return fmt.Sprintf("must be no more than %d characters", validation.DNS1123SubdomainMaxLength)
	case !featurePattern().MatchString(name):
		return "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
	}
	return ""
}

func checkBasicResource(c *checker, v, _ document.Value) {
	if q := quantityValue(v); q.Value() < 0 {
		c.invalid(q.Value(), "must be a valid resource quantity")
	}
}

// resizeStatuses are the valid values of allocatedResourceStatuses of a PersistentVolumeClaim.
var resizeStatuses = []string{"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending", "NodeResizeInProgress", "NodeResizeInfeasible"}

func checkResizeStatus(c *checker, v, _ document.Value) {
	if !slices.Contains(resizeStatuses, v.Text()) {
		c.unsupported(c.key(), slices.Sorted(slices.Values(resizeStatuses)))
	}
}

// checkClaimResource requires that a key of allocatedResources of a PersistentVolumeClaim is storage or a domain-qualified name.
func checkClaimResource(c *checker, _, _ document.Value) { c.checkClaimResource(c.key()) }

func (c *checker) checkClaimResource(name string) bool {
	if problems := formats["qualified-name"].check(name); len(problems) > 0 {
		c.invalidAll(name, problems)
		return false
	}
	if isNativeResource(name) && name != "storage" {
		c.unsupported(name, []string{"storage"})
		return false
	}
	return true
}

// checkAllocatedAmounts validates allocatedResources of a PersistentVolumeClaim. Like kube-apiserver, it reports invalid names
// at the map instead of the key.
func checkAllocatedAmounts(c *checker, amounts, _ document.Value) {
	for name, v := range amounts.Fields() {
		if !c.checkClaimResource(name) {
			continue
		}
		before := len(c.errs)
		c.pushKey(name)
		if checkBasicResource(c, v, document.Value{}); len(c.errs) == before {
			c.checkQuantity("storage", v)
		}
		c.pop()
	}
}

const maxAttachmentMetadata = 256 << 10

func checkAttachmentMetadata(c *checker, metadata, _ document.Value) {
	size := 0
	for key, value := range metadata.Fields() {
		size += len(key) + len(value.Text())
	}
	if size > maxAttachmentMetadata {
		c.tooLong(maxAttachmentMetadata)
	}
}

const conditionReasonFormat = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"

var conditionReasonPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^" + conditionReasonFormat + "$") })

func checkConditionReason(c *checker, value, _ document.Value) {
	if text := value.Text(); !conditionReasonPattern().MatchString(text) {
		c.invalid(text, validation.RegexError("a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
			conditionReasonFormat, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"))
	}
}

func checkJSONPath(c *checker, value, _ document.Value) {
	text := strings.TrimSpace(value.Text())
	if err := jsonpath.New("spec").Parse("{" + text + "}"); err != nil {
		c.invalid(text, fmt.Sprintf("invalid JSONPath: %v", err))
	}
}
