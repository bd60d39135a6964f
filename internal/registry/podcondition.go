package registry

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// timeFormat is the format of times in Kubernetes objects.
const timeFormat = time.RFC3339

// podCondition is a pod condition with the status True. kind is its type; reason and message may be "".
type podCondition struct{ kind, reason, message string }

// withPodCondition returns the status of a pod with a condition set to True. lastTransitionTime becomes now, unless the condition
// is True already.
func withPodCondition(status document.Value, now string, c podCondition) document.Value {
	fields := []document.Field{
		{Name: "lastProbeTime", Value: document.NewNull()},
		{Name: "lastTransitionTime", Value: document.NewString(now)},
		{Name: "status", Value: document.NewString("True")},
		{Name: "type", Value: document.NewString(c.kind)},
	}
	if c.reason != "" {
		fields = append(fields, document.Field{Name: "reason", Value: document.NewString(c.reason)})
	}
	if c.message != "" {
		fields = append(fields, document.Field{Name: "message", Value: document.NewString(c.message)})
	}
	condition := document.NewMap(fields...)
	var conditions []document.Value
	isNew := true
	for _, had := range status.Get("conditions").Items() {
		if had.Get("type").Text() == c.kind {
			isNew = false
			if had.Get("status").Text() == "True" {
				condition = condition.With("lastTransitionTime", had.Get("lastTransitionTime"))
			}
			had = condition
		}
		conditions = append(conditions, had)
	}
	if isNew {
		conditions = append(conditions, condition)
	}
	return status.With("conditions", document.NewList(conditions...))
}
