package applytest

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// masked replaces what differs from run to run in what is recorded.
func (p *play) masked(v document.Value) document.Value {
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

// maskedText has variables and words in the place of this run's namespace and uids.
func (p *play) maskedText(text string) string {
	text = strings.ReplaceAll(text, p.variables.namespace, "$NAMESPACE")
	for uid := range p.seen {
		text = strings.ReplaceAll(text, uid, "<uid>")
	}
	return text
}

// maskedOwners has variables also in the place of uids: words mean nothing in paths.
func (p *play) maskedOwners(text string) string {
	for _, step := range p.script.steps {
		if a := p.variables.answers[step.name]; a != nil && a.uid() != "" {
			text = strings.ReplaceAll(text, a.uid(), "${"+step.name+" .metadata.uid}")
		}
	}
	return p.maskedText(text)
}

// maskedMetadata replaces the time of deletion and a generated name.
func maskedMetadata(meta document.Value) document.Value {
	if time := meta.Get("deletionTimestamp"); !time.IsAbsent() && time.Text() != absentWord {
		meta = meta.With("deletionTimestamp", document.NewString("<time>"))
	}
	start := meta.Get("generateName").Text()
	if name := meta.Get("name").Text(); start != "" && strings.HasPrefix(name, start) {
		meta = meta.With("name", document.NewString(start+anyWord))
	}
	return meta
}
