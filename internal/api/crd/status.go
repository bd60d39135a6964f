package crd

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"

	"github.com/cadastre/cadastre/document"
)

// Established is the type of the condition that is True for CustomResourceDefinitions whose resources are served.
const Established = "Established"

// Decide returns the next status of a CustomResourceDefinition: its accepted names and its conditions NamesAccepted,
// Established and, in protected groups, KubernetesAPIApprovalPolicyConformant. group contains all CustomResourceDefinitions
// of its API group.
func (d *Definition) Decide(group []*Definition) (Names, []Condition) {
	if d.RequestedNames.Equal(d.AcceptedNames) && d.IsTrue("NamesAccepted") {
		accepted := d.Condition("NamesAccepted")
		return d.AcceptedNames, d.nextConditions(accepted)
	}
	got, accepted := d.acceptNames(takenNamesOf(group))
	return got, d.nextConditions(accepted)
}

// nextConditions returns the condition accepted, which is NamesAccepted, followed by Established and, in protected groups,
// KubernetesAPIApprovalPolicyConformant.
func (d *Definition) nextConditions(accepted Condition) []Condition {
	return append([]Condition{accepted, d.establishedCondition(accepted)}, d.approvalCondition()...)
}

// approvalCondition returns the condition KubernetesAPIApprovalPolicyConformant for a CRD in a protected group, and
// nil for other groups.
func (d *Definition) approvalCondition() []Condition {
	if !apihelpers.IsProtectedCommunityGroup(d.Group) {
		return nil
	}
	const name = "KubernetesAPIApprovalPolicyConformant"
	state, message := apihelpers.GetAPIApprovalState(map[string]string{approvalAnnotation: d.approval})
	switch state {
	case apihelpers.APIApproved:
		return []Condition{{name, true, "ApprovedAnnotation", message}}
	case apihelpers.APIApprovalBypassed:
		return []Condition{{name, false, "UnapprovedAnnotation", message}}
	case apihelpers.APIApprovalMissing:
		return []Condition{{name, false, "MissingAnnotation", message}}
	default:
		return []Condition{{name, false, "InvalidAnnotation", message}}
	}
}

// Condition returns the condition whose type is name from the CRD's status. If there is no such condition, the field
// True of the result is false, and the reason and message are empty.
func (d *Definition) Condition(name string) Condition {
	c := d.rawCondition(name)
	return Condition{name, c.Get("status").Text() == "True", c.Get("reason").Text(), c.Get("message").Text()}
}

// HasConditions reports whether the CRD's status contains all given conditions with the same status, reason and
// message.
func (d *Definition) HasConditions(conditions []Condition) bool {
	for _, c := range conditions {
		if d.rawCondition(c.Type).IsAbsent() || d.Condition(c.Type) != c {
			return false
		}
	}
	return true
}

// establishedCondition returns the condition Established; accepted is the condition NamesAccepted. A CRD that is
// established already remains established.
func (d *Definition) establishedCondition(accepted Condition) Condition {
	switch {
	case d.IsTrue(Established):
		return d.Condition(Established)
	case accepted.True && !d.isCABundleValid():
		return Condition{Established, false, "InvalidCABundle", "The conversion webhook CABundle is invalid"}
	case accepted.True:
		return Condition{Established, true, "InitialNamesAccepted", "the initial names have been accepted"}
	case !d.rawCondition(Established).IsAbsent():
		return d.Condition(Established)
	}
	return Condition{Established, false, "NotAccepted", "not all names are accepted"}
}

// isCABundleValid reports whether the caBundle of the conversion webhook is absent or consists of valid PEM certificates.
func (d *Definition) isCABundleValid() bool {
	text := d.conversion.Get("webhook").Lookup("clientConfig", "caBundle").Text()
	if text == "" {
		return true
	}
	bundle, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	for len(bundle) > 0 {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		if slices.Equal(bundle, []byte("\n")) {
			break
		}
	}
	return true
}

// Document returns the names as a value for status.acceptedNames.
func (n Names) Document() document.Value {
	text := document.NewString
	fields := []document.Field{{Name: "kind", Value: text(n.Kind)}, {Name: "plural", Value: text(n.Plural)}}
	for _, f := range []document.Field{{Name: "listKind", Value: text(n.ListKind)}, {Name: "singular", Value: text(n.Singular)}} {
		if f.Value.Text() != "" {
			fields = append(fields, f)
		}
	}
	if len(n.ShortNames) > 0 {
		fields = append(fields, document.Field{Name: "shortNames", Value: stringList(n.ShortNames)})
	}
	if len(n.Categories) > 0 {
		fields = append(fields, document.Field{Name: "categories", Value: stringList(n.Categories)})
	}
	return document.NewMap(fields...)
}
