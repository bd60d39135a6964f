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

// entryName formats a managed fields entry as "MANAGER OPERATION" or, for a subresource, "MANAGER OPERATION/SUBRESOURCE",
// for example "hpa Update/scale".
func entryName(e apply.Entry) string {
	text := fmt.Sprintf("%s %s", e.Manager, e.Operation)
	if e.Subresource != "" {
		text += "/" + e.Subresource
	}
	return text
}

// entryNames formats managed fields entries, separated by commas.
func entryNames(entries []apply.Entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = entryName(e)
	}
	return strings.Join(names, ", ")
}

// age formats the time since a managed fields entry was last updated; "?" if the entry has no timestamp.
func age(e apply.Entry, now time.Time) string {
	if e.Time.IsZero() {
		return "?"
	}
	return duration.HumanDuration(now.Sub(e.Time))
}

// entryWithAge formats a managed fields entry and its age. The age is omitted if the entry has no timestamp, as after a
// write to the scale subresource.
func entryWithAge(e apply.Entry, now time.Time) string {
	if e.Time.IsZero() {
		return entryName(e)
	}
	return fmt.Sprintf("%s, %s ago", entryName(e), age(e, now))
}

// formatPath formats a field path in the notation that flags and arguments accept.
func formatPath(p fieldset.Path) string { return strings.TrimPrefix(p.Quoted(), ".") }

// entryValue returns e, without its field set, as a document for -o json and -o yaml.
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

// pathValues returns the paths of set as a list of strings.
func pathValues(set fieldset.Set) document.Value {
	var values []document.Value
	for p := range set.All() {
		values = append(values, document.NewString(formatPath(p)))
	}
	return document.NewList(values...)
}

// moveValues returns moves of ownership as a list of documents. Each contains the managed fields entry that releases fields,
// the released fields, the fields that the receiver did not own before (gained), and the fields that do not exist at the
// receiver's API version (lost).
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
