package custom

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// condition is something that a definition tells about itself. Reasons and messages are those of Kubernetes.
type condition struct {
	name            string
	isTrue          bool
	reason, message string
}

func (c condition) status() string {
	if c.isTrue {
		return "True"
	}
	return "False"
}

// withConditions returns a definition that has some conditions, each in the place of the one of its name. The
// time of a condition is that of the last change of its status.
func withConditions(doc document.Value, now time.Time, conditions ...condition) document.Value {
	status := doc.Get("status")
	var items []document.Value
	for _, item := range status.Get("conditions").Items() {
		items = append(items, item)
	}
	for _, c := range conditions {
		items = setCondition(items, c, now)
	}
	return doc.With("status", status.With("conditions", document.NewList(items...)))
}

func setCondition(items []document.Value, c condition, now time.Time) []document.Value {
	text := document.NewString
	made := document.NewMap(
		document.Field{Name: "lastTransitionTime", Value: text(now.UTC().Format(time.RFC3339))},
		document.Field{Name: "message", Value: text(c.message)},
		document.Field{Name: "reason", Value: text(c.reason)},
		document.Field{Name: "status", Value: text(c.status())},
		document.Field{Name: "type", Value: text(c.name)},
	)
	for i, item := range items {
		if item.Get("type").Text() != c.name {
			continue
		}
		if item.Get("status").Text() == c.status() {
			made = made.With("lastTransitionTime", item.Get("lastTransitionTime"))
		}
		items[i] = made
		return items
	}
	return append(items, made)
}
