package registry

import (
	"errors"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// fieldSetPath is the path of fieldsV1 in all managed fields entries. Parsing leaves these values as text, because field sets
// are decoded only when they are needed.
var fieldSetPath = []string{"metadata", "managedFields", fastdoc.AnyItem, "fieldsV1"}

// bodyLimits are the limits of request bodies. They reject numbers that clients cannot decode, because one such number would
// break lists of the kind for all clients. Stored objects are read without this limit.
var bodyLimits = document.Limits{FiniteNumbers: true}

// decoded is an object that a client sent, separated from its managedFields and resourceVersion.
type decoded struct {
	// document is the object without managedFields and resourceVersion.
	document document.Value
	// managed is the value of metadata.managedFields; absent if the client sent none.
	managed document.Value
	// resourceVersion is the value of metadata.resourceVersion; "" if the client sent none.
	resourceVersion string
}

// hasRevision reports whether the client sent a resourceVersion that the live object must have. "" and "0" match any object.
func (d decoded) hasRevision() bool { return d.resourceVersion != "" && d.resourceVersion != "0" }

// Parse parses a body, which must be a map or null. It returns a 400 if the body cannot be parsed.
func (b Body) Parse() (document.Value, error) { return b.parseWithBase(document.Value{}) }

// parseWithBase parses a body like Parse. A value that equals the live object's value at the same path shares memory with it, so
// that comparing the two takes constant time.
func (b Body) parseWithBase(live document.Value) (document.Value, error) {
	doc, err := b.parse(live)
	if err != nil && b.YAML {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if err != nil {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: %v", err))
	}
	if doc.IsNull() {
		return document.NewMap(), nil // decoding null into a Go struct leaves it empty
	}
	if doc.Kind() != document.Map {
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: expected an object, received a %s", doc.Kind()))
	}
	return doc, nil
}

// parse parses a body of any kind. The result may share memory with live, which may be absent.
func (b Body) parse(live document.Value) (document.Value, error) {
	doc, err := fastdoc.ParseJSONWithBase(b.Text, bodyLimits, live, fieldSetPath...)
	if err != nil && b.YAML {
		return document.ParseYAMLLimited([]byte(b.Text), bodyLimits)
	}
	return doc, err
}

// decodeObject decodes the body of a create or update request as an object of the endpoint's body kind. It returns a 400 if
// the body is of another kind or does not fit the schema.
func (r *Request) decodeObject() (d decoded, err error) {
	doc, err := r.Body.Parse()
	if err != nil {
		return d, err
	}
	if doc, err = r.withKind(doc); err != nil {
		return d, err
	}
	if d, err = split(doc); err != nil {
		return d, err
	}
	if err := d.checkManaged(); err != nil {
		return d, r.undecodable(err.Error())
	}
	if d.document, err = r.decodeAs(r.Endpoint.body, d.document); err != nil {
		return d, err
	}
	d.document = r.withUniqueOwnerReferences(d.document, duplicatesInBody)
	return d, nil
}

// split separates managedFields and resourceVersion from the object. It drops selfLink.
func split(doc document.Value) (d decoded, err error) {
	metadata := doc.Get("metadata")
	switch metadata.Kind() {
	case document.Map:
	case document.Absent, document.Null:
		metadata = document.NewMap()
	default:
		return d, apierrors.NewBadRequest(fmt.Sprintf("metadata: expected a map, received a %s", metadata.Kind()))
	}
	d.managed = metadata.Get("managedFields")
	if d.resourceVersion, err = stringField(metadata, "resourceVersion"); err != nil {
		return decoded{}, err
	}
	metadata = metadata.Without("managedFields").Without("resourceVersion").Without("selfLink")
	d.document = doc.With("metadata", metadata)
	return d, nil
}

// stringField returns the string field of metadata with the given name; "" if it is absent or null. It returns a 400 if the
// field is not a string.
func stringField(metadata document.Value, name string) (string, error) {
	switch v := metadata.Get(name); v.Kind() {
	case document.Absent, document.Null:
		return "", nil
	case document.String:
		return v.Text(), nil
	default:
		return "", apierrors.NewBadRequest(fmt.Sprintf("metadata.%s: expected a string, received a %s", name, v.Kind()))
	}
}

// withKind rejects a body whose kind or apiVersion is not the endpoint's. If the body of a built-in kind lacks kind or
// apiVersion, withKind sets them.
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
		return doc, r.versionMismatch(version)
	}
	return doc, nil
}

func (r *Request) versionMismatch(version string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, r.Endpoint.BodyVersion))
}

// isCustomObject reports whether the endpoint's bodies are custom resources.
func (e *Endpoint) isCustomObject() bool { return e.Kind.Custom && !e.isProjected() }

// checkCustomKind rejects a custom resource that lacks a kind, or whose apiVersion is not the endpoint's. A wrong kind is a
// validation error, which checkType returns later.
func (r *Request) checkCustomKind(kind, version string) error {
	e := r.Endpoint
	switch {
	case kind == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): Object 'Kind' is missing: expected kind %[1]s and apiVersion %[2]s", e.BodyKind, e.BodyVersion))
	case version != e.BodyVersion:
		return r.versionMismatch(version)
	}
	return nil
}

// decodeAs decodes doc according to the schema values, and drops unknown fields and nulls. It returns a 400 if doc does not fit
// the schema.
func (r *Request) decodeAs(values Values, doc document.Value) (document.Value, error) {
	doc, err := r.decodeTyped(values, doc)
	if err != nil {
		return doc, r.undecodable(err.Error())
	}
	return doc, nil
}

// decodeTyped is decodeAs with errors that are not API statuses. Depending on the request's FieldValidation, unknown fields
// and problems cause warnings, cause an error or are ignored.
func (r *Request) decodeTyped(values Values, doc document.Value, problems ...string) (document.Value, error) {
	// Kubernetes decodes integers in JSON directly, but converts numbers in YAML and in strategic merge patches to floats
	// first. So 1.0 is a valid integer in YAML and in strategic merge patches, but not in JSON.
	doc, unknown, err := values.DecodeWith(doc, builtin.DecodeOptions{WholeFloats: r.Body.YAML || r.Body.Strategic})
	if err != nil || len(unknown)+len(problems) == 0 || r.FieldValidation == Ignore {
		return doc, err
	}
	for _, path := range unknown {
		problems = append(problems, fmt.Sprintf("unknown field %q", path))
	}
	if r.FieldValidation == Strict {
		return doc, errors.New("strict decoding error: " + strings.Join(problems, ", "))
	}
	for _, text := range problems {
		r.Warn(text)
	}
	return doc, nil
}

// undecodable returns the 400 for a document that cannot be decoded as the endpoint's body kind.
func (r *Request) undecodable(problem string) error {
	e := r.Endpoint
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", e.BodyKind, path.Base(e.BodyVersion), e.BodyKind, problem))
}

// invalidConfiguration returns the 400 for an apply configuration that does not fit the schema. Its message begins like that
// of Kubernetes, which returns a 500. It does not contain values of Secrets.
func (r *Request) invalidConfiguration(err *apply.InvalidError) error {
	e := r.Endpoint
	gvk := schema.FromAPIVersionAndKind(e.BodyVersion, e.BodyKind)
	var problems []string
	details := &metav1.StatusDetails{Name: r.Name, Group: e.Kind.Group, Kind: e.Kind.Name}
	for _, f := range err.Fields {
		if e.isSecret() {
			f.Problem, _, _ = strings.Cut(f.Problem, ", received ")
		}
		problems = append(problems, f.Error())
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: f.Problem, Field: f.Path.String()})
	}
	status := apierrors.NewBadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %s", r.Namespace, r.Name, gvk, strings.Join(problems, "; ")))
	status.ErrStatus.Details = details
	return status
}

// checkName rejects a body whose metadata.name is missing or differs from the name in the URL path.
func (r *Request) checkName(doc document.Value) error {
	name, err := stringField(doc.Get("metadata"), "name")
	if err != nil {
		return err
	}
	if name == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	if name != r.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, r.Name))
	}
	return nil
}

// withNamespace returns the object with the namespace of the request, or without a namespace if the resource is
// cluster-scoped. It rejects an object that states another namespace.
func (r *Request) withNamespace(doc document.Value) (document.Value, error) {
	metadata := doc.Get("metadata")
	namespace, err := stringField(metadata, "namespace")
	switch {
	case err != nil:
		return doc, err
	case namespace == r.Namespace:
		return doc, nil
	case namespace == "":
		return doc.With("metadata", metadata.With("namespace", document.NewString(r.Namespace))), nil
	case r.Namespace == "":
		return doc.With("metadata", metadata.Without("namespace")), nil // the resource is cluster-scoped
	default:
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the namespace of the provided object does not match the namespace sent on the request: expected %q, received %q", r.Namespace, namespace))
	}
}
