package crd

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// Condition is a status condition of a CustomResourceDefinition. Reasons and messages are the same as in Kubernetes.
type Condition struct {
	Type            string
	True            bool
	Reason, Message string
}

// Terminating returns the condition Terminating of a CustomResourceDefinition that is being deleted.
func Terminating(isTrue bool, reason, message string) Condition {
	return Condition{"Terminating", isTrue, reason, message}
}

func (c Condition) status() string {
	if c.True {
		return "True"
	}
	return "False"
}

// WithConditions returns doc, a CustomResourceDefinition, with the given conditions; they replace existing conditions of the
// same types. lastTransitionTime of a condition is set to now only if the condition is new or its status changes.
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
