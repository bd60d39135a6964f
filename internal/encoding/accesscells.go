package encoding

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
)

// subjects makes the cell that has a binding's subjects of a kind.
func subjects(kind string) cell {
	return textFunction(func(r *row) string {
		var names []string
		for _, subject := range listOf(r.get("subjects")) {
			if text(subject.Get("kind")) != kind {
				continue
			}
			name := text(subject.Get("name"))
			if kind == "ServiceAccount" {
				name = text(subject.Get("namespace")) + "/" + name
			}
			names = append(names, name)
		}
		return strings.Join(names, ", ")
	})
}

func certificateDuration(r *row) string {
	if seconds, ok := r.get("spec", "expirationSeconds").Int64(); ok {
		return duration.HumanDuration(time.Duration(seconds) * time.Second)
	}
	return none
}

// certificateStatus tells what has been decided, and what came of it.
func certificateStatus(r *row) string {
	conditions := r.get("status", "conditions")
	has := func(typ string) bool { return present(itemWith(conditions, "type", typ)) }
	status := "Pending"
	switch {
	case has("Denied"):
		status = "Denied"
	case has("Approved"):
		status = "Approved"
	}
	if has("Failed") {
		status += ",Failed"
	}
	if text(r.get("status", "certificate")) != "" {
		status += ",Issued"
	}
	return status
}

// paramRef returns what an admission policy gets as its parameters: an object, or all that a
// selector means, which Kubernetes shows as Go prints it.
func paramRef(r *row) string {
	ref := r.get("spec", "paramRef")
	name, selector := text(ref.Get("name")), ref.Get("selector")
	switch {
	case name != "":
		return filled(ref.Get("namespace"), "*") + "/" + name
	case selector.Kind() == document.Map:
		if s := labelSelector(selector); s != nil {
			return s.String()
		}
	}
	return unset
}
