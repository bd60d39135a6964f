package builtin

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// checkNodeTaints validates the taints of a node. Like kube-apiserver, it reports their errors at metadata.taints instead of
// spec.taints.
func checkNodeTaints(c *checker, taints, _ document.Value) {
	where := c.path
	c.path = []step{{name: "metadata"}, {name: "taints"}}
	c.checkTaints(taints)
	c.path = where
}

func (c *checker) checkTaints(taints document.Value) {
	seen := map[[2]string]bool{}
	for i, taint := range taints.Items() {
		key, value, effect := taint.Get("key").Text(), taint.Get("value").Text(), taint.Get("effect").Text()
		c.pushItem(i)
		c.invalidAll(key, formats["qualified-name"].check(key), "key")
		if problems := formats["label-value"].check(value); len(problems) > 0 {
			c.invalid(value, strings.Join(problems, ";"), "value")
		}
		c.push("effect")
		c.checkRequiredEnum(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		c.pop()
		if seen[[2]string{key, effect}] {
			c.duplicate(errorValue(taint))
			c.errs[len(c.errs)-1].Detail = "taints must be unique by key and effect pair"
		}
		seen[[2]string{key, effect}] = true
		c.pop()
	}
}

// Legacy annotations of nodes.
const (
	taintsAnnotation          = "scheduler.alpha.kubernetes.io/taints"
	preferAvoidPodsAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods"
)

// checkNodeAnnotations validates the legacy annotations of nodes. Their JSON is decoded into Kubernetes' Go types, because the
// messages of decoding errors depend on these types.
func checkNodeAnnotations(c *checker, annotations, _ document.Value) {
	if text := annotations.Get(taintsAnnotation).Text(); text != "" {
		var read []corev1.Taint
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			c.invalid(taintsAnnotation, err.Error())
		} else if taints, err := document.ParseJSON([]byte(text)); err == nil {
			c.push(taintsAnnotation)
			c.checkTaints(taints)
			c.pop()
		}
	}
	if text := annotations.Get(preferAvoidPodsAnnotation).Text(); text != "" {
		var read corev1.AvoidPods
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			c.invalid(preferAvoidPodsAnnotation, err.Error(), "AvoidPods")
			return
		}
		c.push(preferAvoidPodsAnnotation)
		for i, entry := range read.PreferAvoidPods {
			c.pushItem(i)
			if owner := entry.PodSignature.PodController; owner == nil {
				c.required("", "PodSignature")
			} else if owner.Controller != nil && !*owner.Controller {
				c.invalid(false, "must point to a controller", "PodSignature", "PodController", "Controller")
			}
			c.pop()
		}
		c.pop()
	}
}

// checkNodeAmounts validates the quantities in capacity or allocatable of a node's status.
func checkNodeAmounts(c *checker, list, _ document.Value) {
	for name, v := range list.Fields() {
		c.push(name)
		c.checkQuantity(name, v)
		c.pop()
	}
}

// cidrsOf returns the pod CIDRs in the spec of a node. If podCIDR and podCIDRs differ, podCIDR takes precedence.
func cidrsOf(spec document.Value) []string {
	first, all := spec.Get("podCIDR").Text(), stringItems(spec.Get("podCIDRs"))
	if first != "" && (len(all) == 0 || all[0] != first) {
		return []string{first}
	}
	return all
}

// checkPodCIDRs requires that the pod CIDRs of a node are valid, and that there is at most one for each IP family.
func checkPodCIDRs(c *checker, spec, _ document.Value) {
	cidrs := cidrsOf(spec)
	c.push("podCIDRs")
	defer c.pop()
	for i, cidr := range cidrs {
		c.pushItem(i)
		c.addErrors(validation.IsValidCIDRForLegacyField(nil, cidr, true, nil))
		c.pop()
	}
	if len(cidrs) < 2 {
		return
	}
	dual, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		e := field.InternalError(nil, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%v", err))
		c.fail(e.Type, e.BadValue, e.Detail)
	}
	if !dual || len(cidrs) > 2 {
		c.invalid(cidrs, "may specify no more than one CIDR for each IP family")
	}
}

const podCIDRUpdateDetail = `node updates may not change podCIDR except from "" to valid`

// checkPodCIDRsFrozen rejects changes of a node's pod CIDRs once they are set, with one error for each CIDR that changes.
func checkPodCIDRsFrozen(c *checker, spec, oldSpec document.Value) {
	cidrs, old := cidrsOf(spec), cidrsOf(oldSpec)
	if len(old) == 0 {
		return
	}
	if len(old) != len(cidrs) {
		c.forbidden(podCIDRUpdateDetail, "podCIDRs")
		return
	}
	for i, cidr := range cidrs {
		if cidr != old[i] {
			c.forbidden(podCIDRUpdateDetail, "podCIDRs")
		}
	}
}
