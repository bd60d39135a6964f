package builtin

import "github.com/cadastre/cadastre/document"

// oldLabels are labels of nodes that have others in their place.
var oldLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func oldLabel(c *checker, now, _ document.Value) {
	if instead, ok := oldLabels[now.Text()]; ok {
		c.warn(now.Text() + " is " + instead)
	}
}

func oldLabelPlain(c *checker, now, _ document.Value) {
	if instead, ok := oldLabels[now.Text()]; ok {
		c.warn(instead)
	}
}

func oldLabelKey(c *checker, _, _ document.Value) {
	if instead, ok := oldLabels[c.key()]; ok {
		c.warn(instead)
	}
}

// oldMatchLabels warns of the keys of a map as if they were fields.
func oldMatchLabels(c *checker, labels, _ document.Value) {
	for key := range labels.Fields() {
		if instead, ok := oldLabels[key]; ok {
			c.warn(instead, key)
		}
	}
}

func oddLabelValue(c *checker, now, _ document.Value) {
	for _, problem := range formats["label-value"].check(now.Text()) {
		c.warn(now.Text() + " is invalid, " + problem)
	}
}
