package differential

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// This file has the signs by which a step is known to be one of which the answers differ.

// isWrittenTwice is for kinds that Kubernetes writes once more, as they are, when somebody writes them for the first time
// after they were made, or after their status was put.
func isWrittenTwice(address string) bool {
	return strings.HasPrefix(address, "batch/v1 jobs/") || strings.HasPrefix(address, "persistentvolumeclaims/")
}

// isAsBefore is for what changes neither the object nor who owns what. The order of owners may change, if there are
// several; scripts write it in one that does not.
func isAsBefore(a answer) bool {
	owners := entriesIn(a.owners)
	return len(owners) > 1 && maps.Equal(owners, entriesIn(a.ownersBefore)) && document.Equal(a.object, a.before)
}

// isDefined is for steps about a kind of users' own.
func isDefined(s Step) bool { return strings.HasPrefix(s.Address, definedGroup+"/") }

// hasSeveralVersions is for objects whose owners may be at other versions than the one that is written.
func hasSeveralVersions(object document.Value) bool {
	version := object.Get("apiVersion").Text()
	return strings.HasPrefix(version, "autoscaling/") || strings.HasPrefix(version, definedGroup+"/")
}

// seenAt is an object without what the version of an address does not show: autoscaling/v1 has in annotations what
// autoscaling/v2 has in fields.
func seenAt(address string, object document.Value) document.Value {
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

func hasTwins(list document.Value) bool {
	items := itemsOf(list)
	for i, item := range items {
		if slices.ContainsFunc(items[:i], func(other document.Value) bool { return document.Equal(item, other) }) {
			return true
		}
	}
	return false
}

// isProtected is for what Kubernetes gives finalizers.
func isProtected(object document.Value) bool {
	return strings.HasPrefix(object.Get("kind").Text(), "PersistentVolume")
}

// isMadeByStatus is for statuses of which Kubernetes makes an object.
func isMadeByStatus(address string) bool {
	return address == "services/"+objectName+"/status" || strings.HasSuffix(address, "/validatingadmissionpolicies/$NAMESPACE-"+objectName+"/status")
}

// isRespelled reports whether a quantity of a list that is replaced as a whole is in a body with another spelling.
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

// empties is for JSON patches that may take the last of a list or map in an item.
func empties(s Step) bool {
	return s.Verb == "JSONPATCH" && slices.ContainsFunc(itemsOf(s.Body), func(operation document.Value) bool {
		return operation.Get("op").Text() == "remove" && inItem.MatchString(operation.Get("path").Text())
	})
}

// inItem finds what is in a list or map of an item.
var inItem = regexp.MustCompile(`/\d+/.+/[^/]+$`)

// countsNothing reports whether a change of what the generation is about was counted where there is none. Kubernetes
// does so for kinds of which it compares how values were read.
func countsNothing(a answer) bool {
	isSame := func(path ...string) bool { return document.Equal(a.object.Lookup(path...), a.before.Lookup(path...)) }
	switch a.object.Get("kind").Text() {
	case "NetworkPolicy", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return !a.before.IsAbsent() && isSame("spec") && isSame("webhooks") && !isSame("metadata", "generation")
	}
	return false
}

// quantitiesIn finds the strings that can be read as quantities.
func quantitiesIn(v document.Value) map[string]resource.Quantity {
	found := map[string]resource.Quantity{}
	for _, p := range places(v) {
		if text := at(v, p); text.Kind() == document.String {
			if quantity, err := resource.ParseQuantity(text.Text()); err == nil {
				found[text.Text()] = quantity
			}
		}
	}
	return found
}

// hasEmpty reports whether a map or a list in a body has nothing in it.
func hasEmpty(body document.Value, kind document.Kind) bool {
	return slices.ContainsFunc(places(body), func(p place) bool {
		value := at(body, p)
		return value.Kind() == kind && value.Len() == 0
	})
}

// isScaledByUpdate reports whether somebody owns the replicas by an update, as scripts write owners: an entry starts at
// the beginning of a line, and goes on in lines that are indented.
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

// takesReset reports whether a write to the one endpoint of a custom resource has taken something from those who wrote
// at the other, at another version.
func takesReset(s Step, a answer) bool {
	if !isDefined(s) {
		return false
	}
	version, path, _ := strings.Cut(s.Address, " ")
	after := entriesIn(a.owners)
	for entry, fields := range entriesIn(a.ownersBefore) {
		isOfStatus := strings.HasSuffix(entry, " status")
		isElsewhere := isOfStatus != strings.HasSuffix(path, "/status") && !slices.Contains(strings.Fields(entry), version)
		if isElsewhere && after[entry] != fields {
			return true
		}
	}
	return false
}

// hasMoved is for who applied an autoscaler at another version before.
func hasMoved(s Step, owners string) bool {
	version, path, _ := strings.Cut(s.Address, " ")
	if s.Verb != "APPLY" || !strings.HasPrefix(version, "autoscaling/") {
		return false
	}
	for entry := range entriesIn(owners) {
		words := strings.Fields(entry)
		isSame := len(words) > 2 && words[0] == s.Manager && words[1] == "Apply" && strings.HasSuffix(path, "/status") == (len(words) > 3)
		if isSame && words[2] != version {
			return true
		}
	}
	return false
}

// changesMetrics reports whether an autoscaler has other metrics than were applied, or, if none were, than it had. At
// autoscaling/v1 these were not seen in their order: one alone has none.
func changesMetrics(s Step, a answer) bool {
	is, wanted := a.object.Lookup("spec", "metrics"), s.Body.Lookup("spec", "metrics")
	if wanted.IsAbsent() && a.before.Get("apiVersion").Text() == "autoscaling/v1" {
		return is.Len() > 1
	}
	if wanted.IsAbsent() {
		wanted = a.before.Lookup("spec", "metrics")
	}
	return !is.IsAbsent() && !document.Equal(wanted, is)
}

// isMeasured is for autoscalers that say how much they have measured, to which autoscaling/v1 adds what it was not
// told.
func isMeasured(autoscaler document.Value) bool {
	return autoscaler.Lookup("status", "currentMetrics").Len() > 0 || !autoscaler.Lookup("status", "currentCPUUtilizationPercentage").IsAbsent() ||
		!autoscaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/current-metrics").IsAbsent()
}

// losesEmptied reports whether somebody has lost a map or list of the metadata that is gone.
func losesEmptied(a answer) bool {
	after := entriesIn(a.owners)
	for entry, fields := range entriesIn(a.ownersBefore) {
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

// testsNull is for JSON patches that test for something with a null in it.
func testsNull(patch document.Value) bool {
	return slices.ContainsFunc(itemsOf(patch), func(operation document.Value) bool {
		value := operation.Get("value")
		return operation.Get("op").Text() == "test" && slices.ContainsFunc(places(value), func(p place) bool { return at(value, p).IsNull() })
	})
}

// entriesIn returns the fields of each entry, as scripts write owners.
func entriesIn(owners string) map[string]string {
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

func uidsIn(metadata document.Value) document.Value {
	return valuesOf(metadata.Get("ownerReferences"), "uid")
}

// conditionsIn returns the types of an autoscaler's conditions, which autoscaling/v1 has in an annotation.
func conditionsIn(autoscaler document.Value) document.Value {
	conditions := autoscaler.Lookup("status", "conditions")
	annotation := autoscaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions")
	if inAnnotation, err := document.ParseJSON(annotation.Text()); err == nil && conditions.IsAbsent() {
		conditions = inAnnotation
	}
	return valuesOf(conditions, "type")
}

// touchesTwins reports whether a patch has a list of which two items in an object have the same merge key.
func touchesTwins(object, patch document.Value) bool {
	for _, p := range places(object)[1:] {
		name, list := p[len(p)-1], at(object, p)
		isTwice := name == "finalizers" && hasTwins(list) ||
			slices.ContainsFunc(mergeKeys[name], func(key string) bool { return hasTwins(valuesOf(list, key)) })
		if isTwice && slices.ContainsFunc(places(patch)[1:], func(p place) bool { return p[len(p)-1] == name }) {
			return true
		}
	}
	return false
}

// replacesNothing is for patches that replace a map where there is none.
func replacesNothing(object, patch document.Value) bool {
	return slices.ContainsFunc(places(patch)[1:], func(p place) bool {
		return at(patch, p).Get("$patch").Text() == "replace" && !slices.ContainsFunc(p, isIndex) && at(object, p).IsAbsent()
	})
}

// valuesOf returns what the items of a list have at a key.
func valuesOf(list document.Value, key string) document.Value {
	var values []document.Value
	for _, item := range itemsOf(list) {
		if value := item.Get(key); !value.IsAbsent() {
			values = append(values, value)
		}
	}
	return document.NewList(values...)
}

// addsTwin is for JSON patches that add a reference to an owner that there is already. If both are equal, one is
// dropped later.
func addsTwin(s Step, metadata document.Value) bool {
	if s.Verb != "JSONPATCH" {
		return false
	}
	uids := itemsOf(uidsIn(metadata))
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

func hasNameless(list document.Value) bool {
	return slices.ContainsFunc(itemsOf(list), func(item document.Value) bool { return item.Get("name").IsAbsent() })
}

// isGone is for the last that is seen of an object that was deleted, once it has no finalizers.
func isGone(object document.Value) bool {
	metadata := object.Get("metadata")
	return !metadata.Get("deletionTimestamp").IsAbsent() && metadata.Get("finalizers").IsAbsent() &&
		document.Equal(metadata.Get("deletionGracePeriodSeconds"), document.NewInt(0))
}
