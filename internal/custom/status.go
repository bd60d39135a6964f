package custom

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/objects"
)

// established is the condition of definitions whose kinds are served.
const established = "Established"

// decide returns the names that a definition gets, and what it tells about itself: whether it has its names, whether it is
// established, and who has approved of it.
func (c *Controller) decide(d *defined) (names, []condition) {
	if d.wanted.equal(d.accepted) && d.isTrue("NamesAccepted") {
		accepted := d.kept("NamesAccepted")
		return d.accepted, d.told(accepted)
	}
	var group []*reading
	for _, other := range c.groups[d.group] {
		group = append(group, other.reading)
	}
	got, accepted := d.accept(takenBy(group))
	return got, d.told(accepted)
}

// told returns all conditions, given that about names.
func (r *reading) told(accepted condition) []condition {
	return append([]condition{accepted, r.establish(accepted)}, r.approve()...)
}

// approve says, for definitions in the groups of the Kubernetes community, whether that has approved of them.
func (r *reading) approve() []condition {
	if !apihelpers.IsProtectedCommunityGroup(r.group) {
		return nil
	}
	const name = "KubernetesAPIApprovalPolicyConformant"
	state, message := apihelpers.GetAPIApprovalState(map[string]string{approvalAnnotation: r.approval})
	switch state {
	case apihelpers.APIApproved:
		return []condition{{name, true, "ApprovedAnnotation", message}}
	case apihelpers.APIApprovalBypassed:
		return []condition{{name, false, "UnapprovedAnnotation", message}}
	case apihelpers.APIApprovalMissing:
		return []condition{{name, false, "MissingAnnotation", message}}
	default:
		return []condition{{name, false, "InvalidAnnotation", message}}
	}
}

// kept returns a condition as it is.
func (r *reading) kept(name string) condition {
	c := r.condition(name)
	return condition{name, c.Get("status").Text() == "True", c.Get("reason").Text(), c.Get("message").Text()}
}

// hasConditions reports whether the definition says all of that already.
func (r *reading) hasConditions(conditions []condition) bool {
	for _, c := range conditions {
		if r.condition(c.name).IsAbsent() || r.kept(c.name) != c {
			return false
		}
	}
	return true
}

// establish returns whether a definition is established: once it is, it stays so.
func (r *reading) establish(accepted condition) condition {
	switch {
	case r.isTrue(established):
		return r.kept(established)
	case accepted.isTrue && !r.hasCABundle():
		return condition{established, false, "InvalidCABundle", "The conversion webhook CABundle is invalid"}
	case accepted.isTrue:
		return condition{established, true, "InitialNamesAccepted", "the initial names have been accepted"}
	case !r.condition(established).IsAbsent():
		return r.kept(established)
	}
	return condition{established, false, "NotAccepted", "not all names are accepted"}
}

// hasCABundle reports whether what the definition's webhook is trusted by can be read.
func (r *reading) hasCABundle() bool {
	text := r.conversion.Get("webhook").Lookup("clientConfig", "caBundle").Text()
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

// tell writes into a definition which names it has, and its conditions.
func (c *Controller) tell(ctx context.Context, d *defined, conditions []condition) error {
	return c.touch(ctx, d, "status", func(doc document.Value) document.Value {
		doc = doc.With("status", doc.Get("status").With("acceptedNames", d.accepted.document()))
		return withConditions(doc, c.Objects.Now(), conditions...)
	})
}

// touch has the controller write into a definition.
func (c *Controller) touch(ctx context.Context, d *defined, subresource string, change func(document.Value) document.Value) error {
	endpoint, err := c.definitions(subresource)
	if err != nil {
		return err
	}
	written, err := c.Objects.Touch(ctx, endpoint, d.object, c.Manager, change)
	if err == nil && written != nil {
		d.object = written
	}
	return err
}

// definitions returns where definitions are written.
func (c *Controller) definitions(subresource string) (*objects.Endpoint, error) {
	kind, _ := c.Objects.Kinds.Resource(definitionsGroup, "v1", definitionsName)
	return c.Objects.Endpoint(kind, "v1", subresource)
}

// document returns names as definitions have them.
func (n names) document() document.Value {
	text := document.NewString
	fields := []document.Field{{Name: "kind", Value: text(n.kind)}, {Name: "plural", Value: text(n.plural)}}
	for _, f := range []document.Field{{Name: "listKind", Value: text(n.listKind)}, {Name: "singular", Value: text(n.singular)}} {
		if f.Value.Text() != "" {
			fields = append(fields, f)
		}
	}
	if len(n.shortNames) > 0 {
		fields = append(fields, document.Field{Name: "shortNames", Value: textList(n.shortNames)})
	}
	if len(n.categories) > 0 {
		fields = append(fields, document.Field{Name: "categories", Value: textList(n.categories)})
	}
	return document.NewMap(fields...)
}
