package builtin

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/cadastre/cadastre/document"
)

// Annotations of pods that kube-apiserver validates. The annotations that end with a slash are prefixes, which the name of a
// container follows.
const (
	mirrorAnnotation           = "kubernetes.io/config.mirror"
	deletionCostAnnotation     = "controller.kubernetes.io/pod-deletion-cost"
	tolerationsAnnotation      = "scheduler.alpha.kubernetes.io/tolerations"
	seccompAnnotation          = "seccomp.security.alpha.kubernetes.io/pod"
	containerSeccompAnnotation = "container.seccomp.security.alpha.kubernetes.io/"
	appArmorAnnotation         = "container.apparmor.security.beta.kubernetes.io/"
)

// checkPodAnnotations validates the annotations of a pod.
func checkPodAnnotations(c *checker, pod, old document.Value) {
	annotations := pod.Lookup("metadata", "annotations")
	if annotations.Len() > 0 {
		c.push("metadata")
		c.validateAnnotations(annotations, old.Lookup("metadata", "annotations"), pod.Get("spec"))
		c.pop()
	}
}

func checkTemplateAnnotations(c *checker, template, old document.Value) {
	if annotations := template.Lookup("metadata", "annotations"); annotations.Len() > 0 {
		c.validateAnnotations(annotations, old.Lookup("metadata", "annotations"), template.Get("spec"))
	}
}

func (c *checker) validateAnnotations(annotations, old, spec document.Value) {
	c.push("annotations")
	if mirror := annotations.Get(mirrorAnnotation); !isAbsentOrNull(mirror) && spec.Get("nodeName").Text() == "" {
		c.pushKey(mirrorAnnotation)
		c.invalid(mirror.Text(), "must set spec.nodeName if mirror pod annotation is set")
		c.pop()
	}
	if text := annotations.Get(tolerationsAnnotation).Text(); text != "" {
		c.checkAnnotatedTolerations(text)
	}
	c.checkDeletionCost(annotations, old)
	c.checkSeccompAnnotations(annotations)
	c.checkAppArmorAnnotations(annotations, spec)
	c.pop()
}

// checkAnnotatedTolerations validates the legacy annotation that contains tolerations as JSON.
func (c *checker) checkAnnotatedTolerations(text string) {
	var read []corev1.Toleration
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		c.invalid(tolerationsAnnotation, err.Error())
		return
	}
	tolerations, err := document.ParseJSON([]byte(text))
	if err != nil {
		return
	}
	c.push(tolerationsAnnotation)
	for i, t := range tolerations.Items() {
		c.pushItem(i)
		checkToleration(c, t, document.Value{})
		c.pop()
	}
	c.pop()
}

func (c *checker) checkSeccompAnnotations(annotations document.Value) {
	if pod := annotations.Get(seccompAnnotation); !isAbsentOrNull(pod) {
		c.checkSeccompAnnotation(seccompAnnotation, pod.Text())
	}
	for key, value := range annotations.Fields() {
		if strings.HasPrefix(key, containerSeccompAnnotation) {
			c.checkSeccompAnnotation(key, value.Text())
		}
	}
}

func (c *checker) checkSeccompAnnotation(key, profile string) {
	switch profile {
	case "runtime/default", "docker/default", "unconfined":
		return
	}
	if file, isLocal := strings.CutPrefix(profile, "localhost/"); isLocal {
		c.invalidAll(file, descendingProblems(file), key)
		return
	}
	c.invalid(profile, "must be a valid seccomp profile", key)
}

func (c *checker) checkAppArmorAnnotations(annotations, spec document.Value) {
	for key, value := range annotations.Fields() {
		container, ok := strings.CutPrefix(key, appArmorAnnotation)
		if !ok {
			continue
		}
		c.pushKey(key)
		if !hasContainer(spec, container) {
			c.invalid(container, "container not found")
		}
		switch profile := value.Text(); {
		case profile == "", profile == "runtime/default", profile == "unconfined", strings.HasPrefix(profile, "localhost/"):
		default:
			c.invalid(profile, fmt.Sprintf("invalid AppArmor profile name: %q", profile))
		}
		c.pop()
	}
}

func hasContainer(spec document.Value, name string) bool {
	for _, list := range containerLists {
		for _, container := range spec.Get(list).Items() {
			if container.Get("name").Text() == name {
				return true
			}
		}
	}
	return false
}

// checkDeletionCost rejects an invalid deletion cost, unless that before the update, in the annotations old, was invalid as well.
func (c *checker) checkDeletionCost(annotations, old document.Value) {
	isInvalid := func(cost document.Value) bool { return !isAbsentOrNull(cost) && !isDeletionCost(cost.Text()) }
	if cost := annotations.Get(deletionCostAnnotation); isInvalid(cost) && !isInvalid(old.Get(deletionCostAnnotation)) {
		c.pushKey(deletionCostAnnotation)
		c.invalid(cost.Text(), "must be a 32bit integer")
		c.pop()
	}
}

// isDeletionCost reports whether a string is a 32-bit integer without a plus sign and leading zeros.
func isDeletionCost(text string) bool {
	if text == "" {
		return false
	}
	first := text[0]
	if first == '+' || first == '0' && len(text) > 1 {
		return false
	}
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

// checkPodProfiles rejects seccomp and AppArmor profiles of a pod and its containers that differ from the profiles in legacy
// annotations.
func checkPodProfiles(c *checker, pod, _ document.Value) {
	annotations, spec := pod.Lookup("metadata", "annotations"), pod.Get("spec")
	if annotations.Len() == 0 {
		return
	}
	c.push("spec")
	c.matchProfile(annotations.Get(seccompAnnotation), spec)
	c.forEachContainer(spec, func(container document.Value) {
		c.matchProfile(annotations.Get(containerSeccompAnnotation+container.Get("name").Text()), container)
	})
	if spec.Lookup("os", "name").Text() != "windows" {
		of := spec.Lookup("securityContext", "appArmorProfile")
		c.forEachContainer(spec, func(container document.Value) {
			c.matchAppArmor(annotations.Get(appArmorAnnotation+container.Get("name").Text()), container, of)
		})
	}
	c.pop()
}

// matchAppArmor requires that the AppArmor profile in a legacy annotation equals the profile of the container or, if the
// container has none, of the pod.
func (c *checker) matchAppArmor(annotation, container, ofPod document.Value) {
	profile := container.Lookup("securityContext", "appArmorProfile")
	if isAbsentOrNull(profile) {
		profile = ofPod
	}
	if isAbsentOrNull(annotation) || isAbsentOrNull(profile) {
		return
	}
	file, isLocal := strings.CutPrefix(annotation.Text(), "localhost/")
	valid := true
	switch profile.Get("type").Text() {
	case "Unconfined":
		valid = annotation.Text() == "unconfined"
	case "RuntimeDefault":
		valid = annotation.Text() == "runtime/default"
	case "Localhost":
		valid = isLocal
		if name := profile.Get("localhostProfile"); isLocal && (isAbsentOrNull(name) || file != name.Text()) {
			c.forbidden("apparmor profile in annotation and field must match", "securityContext", "appArmorProfile", "localhostProfile")
		}
	}
	if !valid {
		c.forbidden("apparmor type in annotation and field must match", "securityContext", "appArmorProfile", "type")
	}
}

func (c *checker) matchProfile(annotation, of document.Value) {
	profile := of.Lookup("securityContext", "seccompProfile")
	if isAbsentOrNull(annotation) || isAbsentOrNull(profile) {
		return
	}
	text := annotation.Text()
	local, isLocal := strings.CutPrefix(text, "localhost/")
	var valid bool
	switch profile.Get("type").Text() {
	case "Unconfined":
		valid = text == "unconfined"
	case "RuntimeDefault":
		valid = text == "runtime/default" || text == "docker/default"
	case "Localhost":
		valid = isLocal
		if isLocal && local != profile.Get("localhostProfile").Text() {
			c.forbidden("seccomp profile in annotation and field must match", "securityContext", "seccompProfile", "localhostProfile")
		}
	default:
		valid = true
	}
	if !valid {
		c.forbidden("seccomp type in annotation and field must match", "securityContext", "seccompProfile", "type")
	}
}
