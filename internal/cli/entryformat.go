package cli

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// who names a manager with its operation, and its endpoint unless that is the main one: hpa Update/scale.
func entryName(e apply.Entry) string {
	text := fmt.Sprintf("%s %s", e.Manager, e.Operation)
	if e.Subresource != "" {
		text += "/" + e.Subresource
	}
	return text
}

// whoAll names managers.
func entryNames(entries []apply.Entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = entryName(e)
	}
	return strings.Join(names, ", ")
}

// age is how long ago a manager last changed something.
func age(e apply.Entry, now time.Time) string {
	if e.Time.IsZero() {
		return "?"
	}
	return duration.HumanDuration(now.Sub(e.Time))
}

// since names a manager and when it last changed something, if that is known: servers do not note the time of
// a scale, nor of sharing a field.
func entryWithAge(e apply.Entry, now time.Time) string {
	if e.Time.IsZero() {
		return entryName(e)
	}
	return fmt.Sprintf("%s, %s ago", entryName(e), age(e, now))
}

// shownPath is a path as people write it.
func formatPath(p fieldset.Path) string { return strings.TrimPrefix(p.Quoted(), ".") }

// entryValue is an entry for machines, without its fields.
func entryValue(e apply.Entry) document.Value {
	fields := []document.Field{
		{Name: "manager", Value: document.NewString(e.Manager)},
		{Name: "operation", Value: document.NewString(string(e.Operation))},
	}
	if e.APIVersion != "" {
		fields = append(fields, document.Field{Name: "apiVersion", Value: document.NewString(e.APIVersion)})
	}
	if e.Subresource != "" {
		fields = append(fields, document.Field{Name: "subresource", Value: document.NewString(e.Subresource)})
	}
	if !e.Time.IsZero() {
		fields = append(fields, document.Field{Name: "time", Value: document.NewString(e.Time.UTC().Format(time.RFC3339))})
	}
	return document.NewMap(fields...)
}

func entryValues(entries []apply.Entry) document.Value {
	values := make([]document.Value, len(entries))
	for i, e := range entries {
		values[i] = entryValue(e)
	}
	return document.NewList(values...)
}

// pathValues are the members of a set for machines.
func pathValues(set fieldset.Set) document.Value {
	var values []document.Value
	for p := range set.All() {
		values = append(values, document.NewString(formatPath(p)))
	}
	return document.NewList(values...)
}

// moveValues are moves for machines: who gives which fields up, which of them are new to who gets them, and which are
// left behind.
func moveValues(moves []ownership.Move) document.Value {
	values := make([]document.Value, len(moves))
	for i, m := range moves {
		values[i] = document.NewMap(
			document.Field{Name: "from", Value: entryValue(m.From)},
			document.Field{Name: "fields", Value: pathValues(m.Fields)},
			document.Field{Name: "gained", Value: pathValues(m.Gained)},
			document.Field{Name: "lost", Value: pathValues(m.Lost)},
		)
	}
	return document.NewList(values...)
}

func stringValues(texts []string) document.Value {
	values := make([]document.Value, len(texts))
	for i, text := range texts {
		values[i] = document.NewString(text)
	}
	return document.NewList(values...)
}
