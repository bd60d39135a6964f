package api

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// ResetField is a field that an endpoint ignores: a request to the endpoint cannot change it.
type ResetField struct {
	// Endpoint is the name of a subresource; "" for the main endpoint.
	Endpoint string
	Path     []string
	// Unowned excludes the field from the managed fields entries of requests to the endpoint.
	Unowned bool
	// OnUpdate makes an update restore the field from the live object. OnCreate makes a create set the field to Created, or
	// remove the field if Created is absent.
	OnUpdate, OnCreate bool
	Created            document.Value
}

// ResetFieldSets returns, for the apply engine, a map from apiVersion to the fields that requests to endpoint cannot own. It
// returns nil if endpoint has no such fields.
func (k *Kind) ResetFieldSets(endpoint string) map[string]fieldset.Set {
	if k.Custom {
		return k.customResetFieldSets(endpoint)
	}
	var reset fieldset.Set
	for _, f := range k.ResetFields {
		if f.Endpoint == endpoint && f.Unowned {
			reset = reset.Insert(fieldset.Names(f.Path...))
		}
	}
	if reset.IsEmpty() {
		return nil
	}
	at := map[string]fieldset.Set{}
	for _, version := range k.Versions {
		at[k.APIVersion(version)] = reset
	}
	return at
}

// restoreResetFields returns obj with the values of live in the reset fields of endpoint. Both obj and live, which is absent on
// create, are at the storage version, without managedFields. version is the version of the request.
func (k *Kind) restoreResetFields(endpoint, version string, obj, live document.Value) document.Value {
	if k.Custom {
		return k.restoreCustomResetFields(endpoint, version, obj, live)
	}
	for i := range k.ResetFields {
		switch f := &k.ResetFields[i]; {
		case f.Endpoint != endpoint:
		case live.IsAbsent() && f.OnCreate:
			obj = put(obj, f.Created, f.Path...)
		case !live.IsAbsent() && f.OnUpdate:
			obj = put(obj, live.Lookup(f.Path...), f.Path...)
		}
	}
	return obj
}

// put returns doc with value in the field at path, or without the field if value is absent. It returns doc itself if nothing
// changes.
func put(doc, value document.Value, path ...string) document.Value {
	old := doc.Get(path[0])
	if len(path) > 1 {
		if value.IsAbsent() && old.IsAbsent() {
			return doc
		}
		value = put(old, value, path[1:]...)
	}
	if document.Same(old, value) {
		return doc
	}
	return doc.With(path[0], value)
}

// mainEndpoint is the name of the main endpoint in kind files; in Go code the main endpoint is "".
const mainEndpoint = "main"

// defaultResetFields are the reset fields of built-in kinds with the status subresource. They apply to each endpoint for
// which the kind file declares no reset fields.
var defaultResetFields = []ResetField{
	{Endpoint: "", Path: []string{"status"}, Unowned: true, OnUpdate: true, OnCreate: true, Created: document.NewMap()},
	{Endpoint: StatusSubresource, Path: []string{"spec"}, Unowned: true, OnUpdate: true, OnCreate: true},
}

// setResetFields sets ResetFields to the reset fields that a kind file declares and, for endpoints without any, to
// defaultResetFields.
func (k *Kind) setResetFields(d *kinds.Declaration) error {
	for _, s := range d.Sections(kinds.ResetFields) {
		lines, err := s.Lines()
		if err != nil {
			return err
		}
		for _, l := range lines {
			f, err := parseResetField(l.Text)
			if err != nil {
				return s.Errorf(l.Number, "%w", err)
			}
			k.ResetFields = append(k.ResetFields, f)
		}
	}
	listed := k.ResetFields
	for _, field := range defaultResetFields {
		if slices.Contains(k.Subresources, StatusSubresource) && !slices.ContainsFunc(listed, func(f ResetField) bool { return f.Endpoint == field.Endpoint }) {
			k.ResetFields = append(k.ResetFields, field)
		}
	}
	return nil
}

// parseResetField parses a line of a kind file, whose syntax is
// ENDPOINT PATH [kept-on-create] [owned] [ownership-only] [= JSON].
func parseResetField(line string) (ResetField, error) {
	declaration, created, isCreated := strings.Cut(line, " = ")
	f := ResetField{Unowned: true, OnUpdate: true, OnCreate: true}
	words := strings.Fields(declaration)
	if len(words) < 2 {
		return f, errExpected("main|SUBRESOURCE PATH", line)
	}
	if words[0] != mainEndpoint {
		f.Endpoint = words[0]
	}
	f.Path = strings.Split(words[1], ".")
	for _, word := range words[2:] {
		switch word {
		case "kept-on-create":
			f.OnCreate = false
		case "owned":
			f.Unowned = false
		case "ownership-only":
			f.OnCreate, f.OnUpdate = false, false
		default:
			return f, errExpected("kept-on-create, owned or ownership-only", word)
		}
	}
	var err error
	if isCreated {
		f.Created, err = document.ParseJSON([]byte(created))
	}
	return f, err
}
