package builtin

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// checkPodUpdate rejects updates of a pod's spec, except of the fields that are mutable: images, activeDeadlineSeconds,
// tolerations and, while the pod has scheduling gates, scheduling directives.
func checkPodUpdate(c *checker, pod, oldPod document.Value) {
	spec, old := pod.Get("spec"), oldPod.Get("spec")
	c.checkFrozenAnnotations(pod.Lookup("metadata", "annotations"), oldPod.Lookup("metadata", "annotations"))
	checkPodAnnotations(c, pod, oldPod)
	c.push("spec")
	defer c.pop()
	if !c.checkSameContainers(spec, old, "containers") || !c.checkSameContainers(spec, old, "initContainers") || !c.checkDeadlineUpdate(spec, old) {
		return
	}
	c.checkAddedTolerations(spec.Get("tolerations"), old.Get("tolerations"))
	c.checkRemovedGates(spec.Get("schedulingGates"), old.Get("schedulingGates"))
	t := c.currentType()
	if semanticEqual(t, false, spec, old) {
		return
	}
	except := []string{"containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates"}
	if intValue(old.Get("terminationGracePeriodSeconds")) < 0 && intValue(spec.Get("terminationGracePeriodSeconds")) == 1 {
		except = append(except, "terminationGracePeriodSeconds")
	}
	if old.Get("schedulingGates").Len() > 0 {
		spec = c.checkNarrowedScheduling(t, spec, old)
	}
	if !equalExcept(t, spec, old, except) || !equalExceptImages(t, spec, old, "containers") || !equalExceptImages(t, spec, old, "initContainers") {
		c.forbidden(podUpdateDetail)
	}
}

const podUpdateDetail = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

func (c *checker) checkFrozenAnnotations(value, old document.Value) {
	c.push("metadata")
	c.push("annotations")
	each := func(from document.Value, verb string, isChange func(key string) bool) {
		for key := range from.Fields() {
			if !isChange(key) || !strings.HasPrefix(key, appArmorAnnotation) && key != mirrorAnnotation {
				continue
			}
			what := "AppArmor annotations"
			if key == mirrorAnnotation {
				what = "mirror pod annotation"
			}
			c.pushKey(key)
			c.forbidden("may not " + verb + " " + what)
			c.pop()
		}
	}
	each(old, "remove or update", func(key string) bool {
		return isAbsentOrNull(value.Get(key)) || value.Get(key).Text() != old.Get(key).Text()
	})
	each(value, "add", func(key string) bool { return isAbsentOrNull(old.Get(key)) })
	c.pop()
	c.pop()
}

func (c *checker) checkSameContainers(spec, old document.Value, name string) bool {
	containers := spec.Get(name)
	if containers.Len() != old.Get(name).Len() {
		c.forbidden("pod updates may not add or remove containers", name)
		return false
	}
	c.push(name)
	for i, container := range containers.Items() {
		c.pushItem(i)
		image := container.Get("image").Text()
		if image == "" {
			c.required("", "image")
		}
		if image != strings.TrimSpace(image) {
			c.invalid(image, "must not have leading or trailing whitespace", "image")
		}
		c.pop()
	}
	c.pop()
	return true
}

// checkDeadlineUpdate requires that an update only sets or decreases activeDeadlineSeconds. It returns false if the new value is
// invalid.
func (c *checker) checkDeadlineUpdate(spec, old document.Value) bool {
	const name = "activeDeadlineSeconds"
	value, oldValue := spec.Get(name), old.Get(name)
	n := intValue(value)
	switch {
	case isAbsentOrNull(value):
		if !isAbsentOrNull(oldValue) {
			c.invalid(errorValue(value), "must not update from a positive integer to nil value", name)
		}
		return true
	case n < 0 || n > math.MaxInt32:
		c.invalid(n, validation.InclusiveRangeError(0, math.MaxInt32), name)
		return false
	case !isAbsentOrNull(oldValue) && intValue(oldValue) < n:
		c.invalid(n, "must be less than or equal to previous value", name)
		return false
	}
	return true
}

func (c *checker) checkAddedTolerations(value, old document.Value) {
	for _, oldValue := range old.Items() {
		found := false
		for _, current := range value.Items() {
			if semanticEqual(nil, false, oldValue.Without("tolerationSeconds"), current.Without("tolerationSeconds")) {
				found = true
				break
			}
		}
		if !found {
			c.forbidden("existing toleration can not be modified except its tolerationSeconds", "tolerations")
			return
		}
	}
	c.push("tolerations")
	for i, t := range value.Items() {
		c.pushItem(i)
		checkToleration(c, t, document.Value{})
		c.pop()
	}
	c.pop()
}

func (c *checker) checkRemovedGates(value, old document.Value) {
	c.push("schedulingGates")
	last := map[string]int{} // the last index of each new gate by name: kube-apiserver reports only the last of several gates with equal names
	for i, gate := range value.Items() {
		if name := gate.Get("name").Text(); c.firstIndex(old, "name", name, false) < 0 {
			last[name] = i
		}
	}
	for i, gate := range value.Items() {
		name := gate.Get("name").Text()
		if at, isNew := last[name]; isNew && at == i {
			c.pushItem(i)
			c.forbidden(fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name), "name")
			c.pop()
		}
	}
	c.pop()
}

// equalExceptImages reports whether the containers in the list name of spec and of old, which are pod specs, are equal except
// for their images. Both lists must have the same length.
func equalExceptImages(t *Type, spec, old document.Value, name string) bool {
	containers, before := spec.Get(name), old.Get(name)
	list, _ := fieldType(t, name)
	var elem *Type
	if list != nil {
		elem = list.Elem
	}
	for i, container := range containers.Items() {
		if !equalExcept(elem, container, before.At(i), []string{"image"}) {
			return false
		}
	}
	return true
}

// checkNarrowedScheduling requires that an update makes the node selector and node affinity of a pod with scheduling gates only
// stricter. It returns spec with the old values of these two fields, so that the caller can compare the remaining fields.
func (c *checker) checkNarrowedScheduling(t *Type, spec, old document.Value) document.Value {
	for key, value := range old.Get("nodeSelector").Fields() {
		if current := spec.Lookup("nodeSelector", key); isAbsentOrNull(current) || current.Text() != value.Text() {
			c.invalid(errorMap(spec.Get("nodeSelector")), "only additions to spec.nodeSelector are allowed (no mutations or deletions)", "nodeSelector")
			break
		}
	}
	spec = setField(spec, "nodeSelector", old.Get("nodeSelector"))
	affinity, oldAffinity := spec.Get("affinity"), old.Get("affinity")
	current, oldValue := affinity.Get("nodeAffinity"), oldAffinity.Get("nodeAffinity")
	affinityType, _ := fieldType(t, "affinity")
	if nodes, pointer := fieldType(affinityType, "nodeAffinity"); semanticEqual(nodes, pointer, current, oldValue) {
		return spec
	}
	c.checkNarrowedAffinity(current, oldValue)
	switch {
	case isAbsentOrNull(affinity):
		return spec.With("affinity", document.NewMap(document.Field{Name: "nodeAffinity", Value: oldValue}))
	case isAbsentOrNull(oldAffinity) && isAbsentOrNull(affinity.Get("podAffinity")) && isAbsentOrNull(affinity.Get("podAntiAffinity")):
		return spec.Without("affinity")
	}
	return spec.With("affinity", setField(affinity, "nodeAffinity", oldValue))
}

// checkNarrowedAffinity requires that an update only adds requirements to the terms of a node affinity, and neither adds nor
// removes terms.
func (c *checker) checkNarrowedAffinity(value, oldValue document.Value) {
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	old, terms := oldValue.Lookup(required, "nodeSelectorTerms"), value.Lookup(required, "nodeSelectorTerms")
	if old.Len() == 0 {
		return
	}
	for _, name := range []string{"affinity", "nodeAffinity", required, "nodeSelectorTerms"} {
		c.push(name)
	}
	defer func() { c.path = c.path[:len(c.path)-4] }()
	if old.Len() != terms.Len() {
		c.invalid(errorValue(terms), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for i, term := range terms.Items() {
		if !hasOnlyAdditions(term, old.At(i)) {
			c.pushItem(i)
			c.invalid(errorValue(term), "only additions are allowed (no mutations or deletions)")
			c.pop()
		}
	}
}

func hasOnlyAdditions(value, old document.Value) bool {
	lists := []string{"matchExpressions", "matchFields"}
	if old.Get(lists[0]).Len()+old.Get(lists[1]).Len() == 0 {
		return value.Get(lists[0]).Len()+value.Get(lists[1]).Len() == 0
	}
	for _, list := range lists {
		requirements := value.Get(list)
		for i, r := range old.Get(list).Items() {
			if i >= requirements.Len() || !semanticEqual(nil, false, requirements.At(i), r) {
				return false
			}
		}
	}
	return true
}
