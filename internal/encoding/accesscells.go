package encoding

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
)

// subjects returns the cell that lists the names of a role binding's subjects whose kind is kind: User, Group or
// ServiceAccount.
func subjects(kind string) cell {
	return textFunction(func(r *row) string {
		var names []string
		for _, subject := range itemsOf(r.get("subjects")) {
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

// certificateStatus returns the state of a CertificateSigningRequest: its approval, denial or failure, and whether a
// certificate was issued.
func certificateStatus(r *row) string {
	conditions := r.get("status", "conditions")
	has := func(typ string) bool { return isPresent(itemWith(conditions, "type", typ)) }
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

// podCertificateState returns the state of a PodCertificateRequest: that of its last condition with a known type.
func podCertificateState(r *row) string {
	state := "Pending"
	for _, condition := range itemsOf(r.get("status", "conditions")) {
		switch name := text(condition.Get("type")); name {
		case "Issued", "Denied", "Failed":
			state = name
		}
	}
	return state
}

// paramRef returns the parameters of an admission policy binding: an object, or a selector in the format of Go's String
// method, as in Kubernetes.
func paramRef(r *row) string {
	ref := r.get("spec", "paramRef")
	name, selector := text(ref.Get("name")), ref.Get("selector")
	switch {
	case name != "":
		return nonemptyText(ref.Get("namespace"), "*") + "/" + name
	case selector.Kind() == document.Map:
		if s := labelSelector(selector); s != nil {
			return s.String()
		}
	}
	return unset
}
