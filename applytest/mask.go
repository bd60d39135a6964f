package applytest

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// masked returns v with variables and placeholders in place of text that differs from run to run, for recorded
// expectations.
func (run *scriptRun) masked(v document.Value) document.Value {
	switch v.Kind() {
	case document.String:
		return document.NewString(run.maskedText(v.Text()))
	case document.List:
		var items []document.Value
		for _, item := range v.Items() {
			items = append(items, run.masked(item))
		}
		return document.NewList(items...)
	case document.Map:
		var fields []document.Field
		for name, value := range v.Fields() {
			if name == "metadata" {
				value = maskedMetadata(value)
			}
			fields = append(fields, document.Field{Name: name, Value: run.masked(value)})
		}
		return document.NewMap(fields...)
	}
	return v
}

// maskedText replaces the script's namespace with the variable $NAMESPACE, and uids with a placeholder.
func (run *scriptRun) maskedText(text string) string {
	text = strings.ReplaceAll(text, run.variables.namespace, "$NAMESPACE")
	for uid := range run.seen {
		text = strings.ReplaceAll(text, uid, "<uid>")
	}
	return text
}

// maskedOwners is like maskedText, for the text of managedFields. It replaces uids with variables instead of
// placeholders, which have no meaning in field paths.
func (run *scriptRun) maskedOwners(text string) string {
	for _, step := range run.script.steps {
		if resp := run.variables.responses[step.name]; resp != nil && resp.uid() != "" {
			text = strings.ReplaceAll(text, resp.uid(), "${"+step.name+" .metadata.uid}")
		}
	}
	return run.maskedText(text)
}

// maskedMetadata returns meta, the metadata of an object, with placeholders in place of the deletionTimestamp
// and of a generated name.
func maskedMetadata(meta document.Value) document.Value {
	if time := meta.Get("deletionTimestamp"); !time.IsAbsent() && time.Text() != absentPlaceholder {
		meta = meta.With("deletionTimestamp", document.NewString("<time>"))
	}
	start := meta.Get("generateName").Text()
	if name := meta.Get("name").Text(); start != "" && strings.HasPrefix(name, start) {
		meta = meta.With("name", document.NewString(start+anyPlaceholder))
	}
	return meta
}
