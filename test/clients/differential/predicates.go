package differential

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// This file detects steps whose responses differ deliberately.

// isWrittenTwice reports whether kube-apiserver writes objects of the resource at address even if they are unchanged,
// at the first request after their creation or after an update of their status.
func isWrittenTwice(address string) bool {
	return strings.HasPrefix(address, "batch/v1 jobs/") || strings.HasPrefix(address, "persistentvolumeclaims/")
}

// isUnchanged reports whether the object has several field managers, and the request changed neither the object nor
// their field sets. The order of their entries may have changed, because scripts list entries in a fixed order.
func isUnchanged(a serverResponse) bool {
	owners := parseOwners(a.owners)
	return len(owners) > 1 && maps.Equal(owners, parseOwners(a.ownersBefore)) && document.Equal(a.object, a.before)
}

// isCustomResource reports whether the request of s is for a custom resource.
func isCustomResource(s Step) bool { return strings.HasPrefix(s.Address, customGroup+"/") }

// hasSeveralVersions reports whether managed fields entries of object may have API versions other than that of object.
func hasSeveralVersions(object document.Value) bool {
	version := object.Get("apiVersion").Text()
	return strings.HasPrefix(version, "autoscaling/") || strings.HasPrefix(version, customGroup+"/")
}

// viewAt returns object as a request for address would show it: at autoscaling/v2, without the annotations with which
// autoscaling/v1 represents some fields of autoscaling/v2.
func viewAt(address string, object document.Value) document.Value {
	metadata := object.Get("metadata")
	annotations := metadata.Get("annotations")
	if object.Get("apiVersion").Text() != "autoscaling/v1" || !strings.HasPrefix(address, "autoscaling/v2 ") || annotations.IsAbsent() {
		return object
	}
	for name := range annotations.Fields() {
		if strings.HasPrefix(name, "autoscaling.alpha.kubernetes.io/") {
			annotations = annotations.Without(name)
		}
	}
	if annotations.Len() == 0 {
		annotations = document.Value{}
	}
	return object.With("metadata", metadata.With("annotations", annotations))
}

func hasDuplicates(list document.Value) bool {
	items := itemsOf(list)
	for i, item := range items {
		if slices.ContainsFunc(items[:i], func(other document.Value) bool { return document.Equal(item, other) }) {
			return true
		}
	}
	return false
}

// isProtected reports whether Kubernetes adds a protection finalizer to objects of the kind of object.
func isProtected(object document.Value) bool {
	return strings.HasPrefix(object.Get("kind").Text(), "PersistentVolume")
}

// isCreatedByStatus reports whether kube-apiserver creates the object if a request writes the status at this address.
func isCreatedByStatus(address string) bool {
	return address == "services/"+objectName+"/status" || strings.HasSuffix(address, "/validatingadmissionpolicies/$NAMESPACE-"+objectName+"/status")
}

// isRespelled reports whether body contains a quantity that is also in list, but with another spelling there, such as
// 1024Mi and 1Gi. list is a list that patches replace as a whole.
func isRespelled(body, list document.Value) bool {
	there := quantitiesIn(list)
	for text, quantity := range quantitiesIn(body) {
		for other, same := range there {
			if text != other && quantity.Cmp(same) == 0 {
				return true
			}
		}
	}
	return false
}

// mayEmptyContainer reports whether a JSON patch may remove the last entry of a list or map within a list item.
func mayEmptyContainer(s Step) bool {
	return s.Verb == "JSONPATCH" && slices.ContainsFunc(itemsOf(s.Body), func(operation document.Value) bool {
		return operation.Get("op").Text() == "remove" && itemEntryPattern.MatchString(operation.Get("path").Text())
	})
}

// itemEntryPattern matches JSON pointers to an entry of a list or map within a list item.
var itemEntryPattern = regexp.MustCompile(`/\d+/.+/[^/]+$`)

// incrementsGenerationWithoutChange reports whether generation was incremented although neither spec nor webhooks
// changed, as kube-apiserver does for kinds whose decoded values it compares.
func incrementsGenerationWithoutChange(a serverResponse) bool {
	isSame := func(path ...string) bool { return document.Equal(a.object.Lookup(path...), a.before.Lookup(path...)) }
	switch a.object.Get("kind").Text() {
	case "NetworkPolicy", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return !a.before.IsAbsent() && isSame("spec") && isSame("webhooks") && !isSame("metadata", "generation")
	}
	return false
}

// quantitiesIn returns the strings in v that can be parsed as quantities, with these quantities.
func quantitiesIn(v document.Value) map[string]resource.Quantity {
	found := map[string]resource.Quantity{}
	for _, p := range fieldPaths(v) {
		if text := valueAt(v, p); text.Kind() == document.String {
			if quantity, err := resource.ParseQuantity(text.Text()); err == nil {
				found[text.Text()] = quantity
			}
		}
	}
	return found
}

// hasEmpty reports whether body contains an empty map or an empty list; kind selects which of the two.
func hasEmpty(body document.Value, kind document.Kind) bool {
	return slices.ContainsFunc(fieldPaths(body), func(p fieldPath) bool {
		value := valueAt(body, p)
		return value.Kind() == kind && value.Len() == 0
	})
}

// isScaledByUpdate reports whether a managed fields entry with operation Update contains spec.replicas. owners has the
// format of scripts: an entry starts at the beginning of a line and continues in indented lines.
func isScaledByUpdate(owners string) bool {
	isUpdate := false
	for line := range strings.Lines(owners) {
		if !strings.HasPrefix(line, " ") {
			entry, _, _ := strings.Cut(line, ":")
			isUpdate = strings.Contains(entry, " Update ")
		}
		if isUpdate && slices.Contains(strings.Fields(line), ".spec.replicas") {
			return true
		}
	}
	return false
}

// replicasIn returns the spec.replicas of a Scale or of the object that it scales. A Scale omits 0.
func replicasIn(v document.Value) document.Value {
	if replicas := v.Lookup("spec", "replicas"); !replicas.IsAbsent() {
		return replicas
	}
	return document.NewInt(0)
}

// keepsFieldsOfRemovedItem reports whether a managed fields entry lost a list item, but not all fields inside of it.
func keepsFieldsOfRemovedItem(a serverResponse) bool {
	after := parseOwners(a.owners)
	for entry, fields := range parseOwners(a.ownersBefore) {
		left := strings.Fields(after[entry])
		for item := range strings.FieldsSeq(fields) {
			isLost := strings.HasSuffix(item, "]") && !slices.Contains(left, item)
			if isLost && slices.ContainsFunc(left, func(field string) bool { return strings.HasPrefix(field, item) }) {
				return true
			}
		}
	}
	return false
}

// removesResetFields reports whether a write to one endpoint of a custom resource removed fields from a managed fields
// entry that was written at the other endpoint, at another API version.
func removesResetFields(s Step, a serverResponse) bool {
	if !isCustomResource(s) {
		return false
	}
	version, path, _ := strings.Cut(s.Address, " ")
	after := parseOwners(a.owners)
	for entry, fields := range parseOwners(a.ownersBefore) {
		isOfStatus := strings.HasSuffix(entry, " status")
		isOtherEntry := isOfStatus != strings.HasSuffix(path, "/status") && !slices.Contains(strings.Fields(entry), version)
		if isOtherEntry && after[entry] != fields {
			return true
		}
	}
	return false
}

// isAppliedAtOtherVersion reports whether s is an apply to a HorizontalPodAutoscaler, and its field manager already has
// an entry of operation Apply, at the same endpoint, with another API version.
func isAppliedAtOtherVersion(s Step, owners string) bool {
	version, path, _ := strings.Cut(s.Address, " ")
	if s.Verb != "APPLY" || !strings.HasPrefix(version, "autoscaling/") {
		return false
	}
	for entry := range parseOwners(owners) {
		words := strings.Fields(entry)
		isSame := len(words) > 2 && words[0] == s.Manager && words[1] == "Apply" && strings.HasSuffix(path, "/status") == (len(words) > 3)
		if isSame && words[2] != version {
			return true
		}
	}
	return false
}

// changesMetrics reports whether the metrics of a HorizontalPodAutoscaler differ from the metrics in the request or, if
// it has none, from the metrics before the request. At autoscaling/v1 the metrics before the request are unknown:
// there, several metrics count as changed.
func changesMetrics(s Step, a serverResponse) bool {
	is, expected := a.object.Lookup("spec", "metrics"), s.Body.Lookup("spec", "metrics")
	if expected.IsAbsent() && a.before.Get("apiVersion").Text() == "autoscaling/v1" {
		return is.Len() > 1
	}
	if expected.IsAbsent() {
		expected = a.before.Lookup("spec", "metrics")
	}
	return !is.IsAbsent() && !document.Equal(expected, is)
}

// hasCurrentMetrics reports whether the status of a HorizontalPodAutoscaler contains current metrics, to which
// autoscaling/v1 adds values that were not sent.
func hasCurrentMetrics(autoscaler document.Value) bool {
	return autoscaler.Lookup("status", "currentMetrics").Len() > 0 || !autoscaler.Lookup("status", "currentCPUUtilizationPercentage").IsAbsent() ||
		!autoscaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/current-metrics").IsAbsent()
}

// losesEmptiedContainer reports whether the request removed a map or list in the metadata, and its path from a managed
// fields entry.
func losesEmptiedContainer(a serverResponse) bool {
	after := parseOwners(a.owners)
	for entry, fields := range parseOwners(a.ownersBefore) {
		for field := range strings.FieldsSeq(fields) {
			name, isOfMetadata := strings.CutPrefix(field, ".metadata.")
			isLost := isOfMetadata && !slices.Contains(strings.Fields(after[entry]), field)
			if isLost && !a.before.Lookup("metadata", name).IsAbsent() && a.object.Lookup("metadata", name).IsAbsent() {
				return true
			}
		}
	}
	return false
}

// testsNull reports whether a JSON patch contains a test operation whose value contains null.
func testsNull(patch document.Value) bool {
	return slices.ContainsFunc(itemsOf(patch), func(operation document.Value) bool {
		value := operation.Get("value")
		return operation.Get("op").Text() == "test" && slices.ContainsFunc(fieldPaths(value), func(p fieldPath) bool { return valueAt(value, p).IsNull() })
	})
}

// parseOwners parses managedFields in the format of scripts, and returns a map from the manager of each entry to its
// fields.
func parseOwners(owners string) map[string]string {
	entries, entry := map[string]string{}, ""
	for line := range strings.Lines(owners) {
		fields := line
		if !strings.HasPrefix(line, " ") {
			entry, fields, _ = strings.Cut(line, ":")
		}
		entries[entry] = strings.Join(append(strings.Fields(entries[entry]), strings.Fields(fields)...), " ")
	}
	return entries
}

func ownerReferenceUIDs(metadata document.Value) document.Value {
	return valuesOf(metadata.Get("ownerReferences"), "uid")
}

// conditionsIn returns the types of the conditions of a HorizontalPodAutoscaler. At autoscaling/v1 the conditions are
// in an annotation.
func conditionsIn(autoscaler document.Value) document.Value {
	conditions := autoscaler.Lookup("status", "conditions")
	annotation := autoscaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions")
	if inAnnotation, err := document.ParseJSON(annotation.Text()); err == nil && conditions.IsAbsent() {
		conditions = inAnnotation
	}
	return valuesOf(conditions, "type")
}

// touchesDuplicates reports whether patch contains a list in which object has two items with equal merge keys.
func touchesDuplicates(object, patch document.Value) bool {
	for _, p := range fieldPaths(object)[1:] {
		name, list := p[len(p)-1], valueAt(object, p)
		hasDuplicate := name == "finalizers" && hasDuplicates(list) ||
			slices.ContainsFunc(mergeKeys[name], func(key string) bool { return hasDuplicates(valuesOf(list, key)) })
		if hasDuplicate && slices.ContainsFunc(fieldPaths(patch)[1:], func(p fieldPath) bool { return p[len(p)-1] == name }) {
			return true
		}
	}
	return false
}

// replacesNothing reports whether patch replaces a map that object does not contain.
func replacesNothing(object, patch document.Value) bool {
	return slices.ContainsFunc(fieldPaths(patch)[1:], func(p fieldPath) bool {
		return valueAt(patch, p).Get("$patch").Text() == "replace" && !slices.ContainsFunc(p, isIndex) && valueAt(object, p).IsAbsent()
	})
}

// valuesOf returns a list with the values of the field key in the items of list.
func valuesOf(list document.Value, key string) document.Value {
	var values []document.Value
	for _, item := range itemsOf(list) {
		if value := item.Get(key); !value.IsAbsent() {
			values = append(values, value)
		}
	}
	return document.NewList(values...)
}

// addsDuplicateOwnerReference reports whether a JSON patch adds an ownerReference with a UID that another
// ownerReference has. If both are equal, one of them is removed later.
func addsDuplicateOwnerReference(s Step, metadata document.Value) bool {
	if s.Verb != "JSONPATCH" {
		return false
	}
	uids := itemsOf(ownerReferenceUIDs(metadata))
	for _, operation := range itemsOf(s.Body) {
		value := operation.Get("value")
		for _, reference := range append(itemsOf(value), value) {
			uid := reference.Get("uid")
			if !uid.IsAbsent() && slices.ContainsFunc(uids, func(other document.Value) bool { return document.Equal(uid, other) }) {
				return true
			}
			if !uid.IsAbsent() {
				uids = append(uids, uid)
			}
		}
	}
	return false
}

func hasItemWithoutName(list document.Value) bool {
	return slices.ContainsFunc(itemsOf(list), func(item document.Value) bool { return item.Get("name").IsAbsent() })
}

// isFinallyDeleted reports whether object is the last state of a deleted object: it has a deletionTimestamp, no
// finalizers, and grace period 0.
func isFinallyDeleted(object document.Value) bool {
	metadata := object.Get("metadata")
	return !metadata.Get("deletionTimestamp").IsAbsent() && metadata.Get("finalizers").IsAbsent() &&
		document.Equal(metadata.Get("deletionGracePeriodSeconds"), document.NewInt(0))
}
