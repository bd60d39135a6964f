package builtin

import "github.com/cadastre/cadastre/document"

// deprecatedLabels maps deprecated node labels to the part of the warning that follows the label.
var deprecatedLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func warnDeprecatedLabel(c *checker, value, _ document.Value) {
	if instead, ok := deprecatedLabels[value.Text()]; ok {
		c.warn(value.Text() + " is " + instead)
	}
}

func warnDeprecatedLabelPlain(c *checker, value, _ document.Value) {
	if instead, ok := deprecatedLabels[value.Text()]; ok {
		c.warn(instead)
	}
}

func warnDeprecatedLabelKey(c *checker, _, _ document.Value) {
	if instead, ok := deprecatedLabels[c.key()]; ok {
		c.warn(instead)
	}
}

// warnDeprecatedMatchLabels adds a warning for each deprecated label in matchLabels. The path of the warning ends with the
// label.
func warnDeprecatedMatchLabels(c *checker, labels, _ document.Value) {
	for key := range labels.Fields() {
		if instead, ok := deprecatedLabels[key]; ok {
			c.warn(instead, key)
		}
	}
}

func warnLabelValue(c *checker, value, _ document.Value) {
	for _, problem := range formats["label-value"].check(value.Text()) {
		c.warn(value.Text() + " is invalid, " + problem)
	}
}
