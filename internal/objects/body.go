package objects

import (
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// fieldSets is where objects have what most operations leave unread.
var fieldSets = []string{"metadata", "managedFields", document.AnyItem, "fieldsV1"}

// sent is an object as a client sent it.
type sent struct {
	// document is without managedFields and resourceVersion.
	document document.Value
	// managed is what it said about managedFields.
	managed         document.Value
	resourceVersion string
}

// isOfRevision reports whether the client said which version of the object it means. 0 is that of none.
func (s sent) isOfRevision() bool { return s.resourceVersion != "" && s.resourceVersion != "0" }

// Parse reads a body.
func (b Body) Parse() (document.Value, error) { return b.parseBeside(document.Value{}) }

// parseBeside reads a body. What it shares with the live object is neither read nor compared again.
func (b Body) parseBeside(live document.Value) (document.Value, error) {
	doc, err := document.ParseJSONBeside(b.Text, document.Limits{}, live, fieldSets...)
	if err != nil && b.YAML {
		doc, err = document.ParseYAML([]byte(b.Text))
	}
	if err != nil && b.YAML {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if err != nil {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: %v", err))
	}
	if doc.IsNull() {
		return document.NewMap(), nil // as Go reads it: an object with nothing in it
	}
	if doc.Kind() != document.Map {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: expected an object, received a %s", doc.Kind()))
	}
	return doc, nil
}

// read parses a body, and splits it.
func (r *Request) read(live document.Value) (sent, error) {
	doc, err := r.Body.parseBeside(live)
	if err != nil {
		return sent{}, err
	}
	if doc, err = r.withKind(doc); err != nil {
		return sent{}, err
	}
	return r.split(doc)
}

// split takes apart what is said about an object from the object.
func (r *Request) split(doc document.Value) (s sent, err error) {
	metadata := doc.Get("metadata")
	switch metadata.Kind() {
	case document.Map:
	case document.Absent, document.Null:
		metadata = document.NewMap()
	default:
		return sent{}, apierrors.NewBadRequest(fmt.Sprintf("metadata: expected a map, received a %s", metadata.Kind()))
	}
	s.managed = metadata.Get("managedFields")
	if s.resourceVersion, err = textOf(metadata, "resourceVersion"); err != nil {
		return sent{}, err
	}
	metadata = metadata.Without("managedFields").Without("resourceVersion").Without("selfLink")
	s.document = doc.With("metadata", metadata)
	return s, nil
}

// textOf returns a field of the metadata that must be a string.
func textOf(metadata document.Value, name string) (string, error) {
	switch v := metadata.Get(name); v.Kind() {
	case document.Absent, document.Null:
		return "", nil
	case document.String:
		return v.Text(), nil
	default:
		return "", apierrors.NewBadRequest(fmt.Sprintf("metadata.%s: expected a string, received a %s", name, v.Kind()))
	}
}

// withKind refuses what is not of the endpoint's kind and version. What does not say is taken to
// be, if the kind is built in.
func (r *Request) withKind(doc document.Value) (document.Value, error) {
	e := r.Endpoint
	kind, version := doc.Get("kind").Text(), doc.Get("apiVersion").Text()
	if e.isCustomObject() {
		return doc, r.checkCustomKind(kind, version)
	}
	if kind == "" {
		doc = doc.With("kind", document.NewString(e.BodyKind))
	} else if kind != e.BodyKind {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: expected kind %s and apiVersion %s",
			kind, path.Base(version), e.BodyKind, e.BodyKind, e.BodyVersion))
	}
	if version == "" {
		doc = doc.With("apiVersion", document.NewString(e.BodyVersion))
	} else if version != e.BodyVersion {
		return doc, r.otherVersion(version)
	}
	return doc, nil
}

func (r *Request) otherVersion(version string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, r.Endpoint.BodyVersion))
}

// isCustomObject reports whether custom resources are sent to the endpoint, and not their scales.
func (e *Endpoint) isCustomObject() bool { return e.Kind.Custom && e.Subresource != scale }

// checkCustomKind refuses what does not say that it is a custom resource of the version. They say themselves what they
// are, as nothing else does: for another kind the same rules could hold. That it is one is a rule like others, see
// checkType.
func (r *Request) checkCustomKind(kind, version string) error {
	e := r.Endpoint
	switch {
	case kind == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): Object 'Kind' is missing: expected kind %[1]s and apiVersion %[2]s", e.BodyKind, e.BodyVersion))
	case version != e.BodyVersion:
		return r.otherVersion(version)
	}
	return nil
}

// checkType refuses custom resources that are of another kind, or have become so, with all else that is wrong with
// them. Nobody looks at that in what is written to a status: all of it but the status stays as it is.
func (w *writing) checkType(doc document.Value) (document.Value, error) {
	e := w.Endpoint
	kind := doc.Get("kind").Text()
	if !e.isCustomObject() || kind == e.BodyKind && doc.Get("apiVersion").Text() == e.BodyVersion {
		return doc, nil
	}
	if e.Subresource == status {
		return doc.With("kind", document.NewString(e.BodyKind)).With("apiVersion", document.NewString(e.BodyVersion)), nil
	}
	wrong := w.newMetadata(doc)
	if w.live != nil {
		wrong = w.keptMetadata(doc)
	}
	name := doc.Lookup("metadata", "name").Text()
	return doc, Invalid(e.errorKindOf(doc), name, e.values.Validate(wrong, w.before.Document))
}

// invalid returns the error for a configuration that does not fit the kind. It begins as in
// Kubernetes, which takes it for a fault of its own.
func (r *Request) invalid(err *apply.InvalidError) error {
	e := r.Endpoint
	gvk := schema.FromAPIVersionAndKind(e.BodyVersion, e.BodyKind)
	var problems []string
	details := &metav1.StatusDetails{Name: r.Name, Group: e.Kind.Group, Kind: e.Kind.Name}
	for _, f := range err.Fields {
		if e.isSecret() { // what was received is not shown
			f.Problem, _, _ = strings.Cut(f.Problem, ", received ")
		}
		problems = append(problems, f.Error())
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: f.Problem, Field: f.Path.String()})
	}
	status := apierrors.NewBadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %s", r.Namespace, r.Name, gvk, strings.Join(problems, "; ")))
	status.ErrStatus.Details = details
	return status
}
