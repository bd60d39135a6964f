package objects

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/rules"
)

// reader reads objects of a kind for those who are asked about them.
type reader struct{ at *Endpoint }

// Convert implements admit.Reader.
func (r reader) Convert(doc document.Value, from, to string) (document.Value, error) {
	switch {
	case from == to:
		return doc, nil
	case r.at.evolving != nil:
		return r.at.evolving.Whole(doc, to)
	}
	return r.at.Kind.Convert(doc, from, to)
}

// Read implements admit.Reader. What is no field of a built-in kind is dropped in silence: it is not the client's. A
// custom resource keeps what it is not to have until it is stored, as in Kubernetes.
func (r reader) Read(doc document.Value, apiVersion string) (document.Value, error) {
	doc, err := r.typed(doc, apiVersion)
	if err != nil {
		return doc, err
	}
	values, err := r.values(doc.Get("apiVersion").Text())
	if err != nil {
		return doc, nil // it can't be converted either
	}
	read, _, err := readSilently(values, doc)
	if err == nil && r.at.isCustomObject() {
		return doc, nil
	}
	return read, err
}

// readSilently reads an object that somebody else than the client has made. Its managedFields are read as such later.
func readSilently(values Values, doc document.Value) (read document.Value, unknown []string, err error) {
	metadata := doc.Get("metadata")
	managed := metadata.Get("managedFields")
	read, unknown, err = values.ReadWith(doc.With("metadata", metadata.Without("managedFields")), rules.ReadOptions{})
	if err != nil || managed.IsAbsent() {
		return read, unknown, err
	}
	return read.With("metadata", read.Get("metadata").With("managedFields", managed)), unknown, nil
}

// typed refuses what is no object of the kind any more. One of a built-in kind that has lost its kind or its version is
// still of that. Of a custom resource the rules of its kind say what it has to be, and who converts it.
func (r reader) typed(doc document.Value, apiVersion string) (document.Value, error) {
	e := r.at
	if !e.Kind.Custom {
		for name, is := range map[string]string{"kind": e.BodyKind, "apiVersion": apiVersion} {
			if doc.Get(name).Text() == "" {
				doc = doc.With(name, document.NewString(is))
			}
		}
	}
	if version, kind := doc.Get("apiVersion").Text(), doc.Get("kind").Text(); !r.mayBe(version, kind) {
		return doc, fmt.Errorf("an admission webhook made %s %s of the object: expected %s %s", version, kind, apiVersion, e.BodyKind)
	}
	return doc, nil
}

// mayBe reports whether an object of the kind may say that it is of a version and a kind.
func (r reader) mayBe(version, kind string) bool {
	e := r.at
	switch {
	case e.isCustomObject():
		return kind != ""
	case kind != e.BodyKind:
		return false
	case version == e.BodyVersion || e.Subresource == scale:
		return version == e.BodyVersion
	}
	_, ok := e.Kind.Topology(version)
	return ok
}

// checkNulls refuses nulls where a custom resource may have none. As in Kubernetes those that clients send are nothing,
// and those that others set are not.
func (r reader) checkNulls(doc document.Value) error {
	if !r.at.isCustomObject() || !hasNull(doc) {
		return nil
	}
	var wrong field.ErrorList
	for _, err := range r.at.values.Validate(r.at.values.Default(doc), document.Value{}) {
		if err.Type == field.ErrorTypeTypeInvalid {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return Invalid(r.at.errorKind(), doc.Lookup("metadata", "name").Text(), wrong)
}

// Default implements admit.Reader.
func (r reader) Default(doc document.Value) document.Value {
	values, err := r.values(doc.Get("apiVersion").Text())
	if err != nil {
		return doc
	}
	return values.Default(doc)
}

func (r reader) values(apiVersion string) (Values, error) {
	switch apiVersion {
	case r.at.BodyVersion:
		return r.at.body, nil
	case r.at.storedVersion:
		return r.at.stored, nil
	}
	return valuesOf(r.at.Kind, apiVersion)
}
