package applytest

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// masked returns a value for recording: it replaces text that differs from run to run by variables and placeholders.
func (p *scriptRun) masked(v document.Value) document.Value {
	switch v.Kind() {
	case document.String:
		return document.NewString(p.maskedText(v.Text()))
	case document.List:
		var items []document.Value
		for _, item := range v.Items() {
			items = append(items, p.masked(item))
		}
		return document.NewList(items...)
	case document.Map:
		var fields []document.Field
		for name, value := range v.Fields() {
			if name == "metadata" {
				value = maskedMetadata(value)
			}
			fields = append(fields, document.Field{Name: name, Value: p.masked(value)})
		}
		return document.NewMap(fields...)
	}
	return v
}

// maskedText replaces the script's namespace by the variable $NAMESPACE, and uids by a placeholder.
func (p *scriptRun) maskedText(text string) string {
	text = strings.ReplaceAll(text, p.variables.namespace, "$NAMESPACE")
	for uid := range p.seen {
		text = strings.ReplaceAll(text, uid, "<uid>")
	}
	return text
}

// maskedOwners is like maskedText, for the text of managedFields. It replaces uids by variables, because placeholders
// have no meaning in field paths.
func (p *scriptRun) maskedOwners(text string) string {
	for _, step := range p.script.steps {
		if a := p.variables.responses[step.name]; a != nil && a.uid() != "" {
			text = strings.ReplaceAll(text, a.uid(), "${"+step.name+" .metadata.uid}")
		}
	}
	return p.maskedText(text)
}

// maskedMetadata replaces the deletionTimestamp and a generated name in the metadata by placeholders.
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
