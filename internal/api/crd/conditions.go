package crd

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// Condition is a condition of a definition. Reasons and messages are those of Kubernetes.
type Condition struct {
	Type            string
	True            bool
	Reason, Message string
}

// Terminating returns the condition of a definition that is being deleted.
func Terminating(isTrue bool, reason, message string) Condition {
	return Condition{"Terminating", isTrue, reason, message}
}

func (c Condition) status() string {
	if c.True {
		return "True"
	}
	return "False"
}

// WithConditions returns a definition with conditions added, or replaced by type. The transition time of a condition
// changes only with its status.
func WithConditions(doc document.Value, now time.Time, conditions ...Condition) document.Value {
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

func setCondition(items []document.Value, c Condition, now time.Time) []document.Value {
	text := document.NewString
	made := document.NewMap(
		document.Field{Name: "lastTransitionTime", Value: text(now.UTC().Format(time.RFC3339))},
		document.Field{Name: "message", Value: text(c.Message)},
		document.Field{Name: "reason", Value: text(c.Reason)},
		document.Field{Name: "status", Value: text(c.status())},
		document.Field{Name: "type", Value: text(c.Type)},
	)
	for i, item := range items {
		if item.Get("type").Text() != c.Type {
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
