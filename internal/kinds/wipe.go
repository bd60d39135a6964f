package kinds

import (
	_ "embed" // wipes.txt
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Wipe is a field that can't be written at an endpoint. What is sent there counts for nothing.
type Wipe struct {
	// Endpoint is a subresource, "" for the main one.
	Endpoint string
	Path     []string
	// Reset says that nobody gets to own the field at the endpoint.
	Reset bool
	// OnUpdate says that the field comes back from the live object, OnCreate that it becomes
	// Created, which is absent for fields that just go.
	OnUpdate, OnCreate bool
	Created            document.Value
}

// Reset returns the fields that nobody gets to own at an endpoint, by apiVersion, as the engine
// wants them.
func (k *Kind) Reset(endpoint string) map[string]fieldset.Set {
	if k.Custom {
		return k.resetCustom(endpoint)
	}
	var reset fieldset.Set
	for _, w := range k.Wipes {
		if w.Endpoint == endpoint && w.Reset {
			reset = reset.Insert(fieldset.Names(w.Path...))
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

// Wipe returns an object without what can't be written at an endpoint. The live object, which is
// absent on create, and the object are at the version that is stored, and without managedFields; version is
// the one of the endpoint.
func (k *Kind) Wipe(endpoint, version string, obj, live document.Value) document.Value {
	if k.Custom {
		return k.wipeCustom(endpoint, version, obj, live)
	}
	for i := range k.Wipes {
		switch w := &k.Wipes[i]; {
		case w.Endpoint != endpoint:
		case live.IsAbsent() && w.OnCreate:
			obj = put(obj, w.Created, w.Path...)
		case !live.IsAbsent() && w.OnUpdate:
			obj = put(obj, live.Lookup(w.Path...), w.Path...)
		}
	}
	return obj
}

// put returns a document that has a value at a path, or nothing there if the value is absent.
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

//go:embed wipes.txt
var wipesText string

// mainEndpoint is how texts spell the endpoint that has no name.
const mainEndpoint = "main"

// addWipes gives kinds the wipes that a text such as wipes.txt has, and the usual ones.
func addWipes(kinds []*Kind, text string) error {
	rows, err := parseRows(kinds, text, "RESOURCE main|SUBRESOURCE FIELD…", 3)
	if err != nil {
		return err
	}
	declared := map[*Kind][]string{} // the endpoints
	for _, row := range rows {
		endpoint := row.words[1]
		if endpoint == mainEndpoint {
			endpoint = ""
		}
		declared[row.kind] = append(declared[row.kind], endpoint)
		for _, word := range row.words[2:] {
			w, err := parseWipe(word)
			if err != nil {
				return row.errorf("%w", err)
			}
			w.Endpoint = endpoint
			row.kind.Wipes = append(row.kind.Wipes, w)
		}
	}
	for _, k := range kinds {
		for _, usual := range usualWipes {
			if k.HasStatus && !slices.Contains(declared[k], usual.Endpoint) {
				k.Wipes = append(k.Wipes, usual)
			}
		}
	}
	return nil
}

// usualWipes are those of a kind with a status.
var usualWipes = []Wipe{
	{Endpoint: "", Path: []string{"status"}, Reset: true, OnUpdate: true, OnCreate: true, Created: document.NewMap()},
	{Endpoint: "status", Path: []string{"spec"}, Reset: true, OnUpdate: true, OnCreate: true},
}

func parseWipe(word string) (Wipe, error) {
	word, created, isCreated := strings.Cut(word, "=")
	w := Wipe{Reset: true, OnUpdate: true, OnCreate: true}
	if isCreated {
		var err error
		if w.Created, err = document.ParseJSON(created); err != nil {
			return w, err
		}
	}
	words := strings.Split(word, ":")
	w.Path = strings.Split(words[0], ".")
	for _, word := range words[1:] {
		switch word {
		case "sent":
			w.OnCreate = false
		case "owned":
			w.Reset = false
		case "unowned":
			w.OnCreate, w.OnUpdate = false, false
		default:
			return w, fmt.Errorf("expected sent, owned or unowned, received %q", word)
		}
	}
	return w, nil
}
