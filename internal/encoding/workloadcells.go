package encoding

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
)

// deploymentSelector returns the label selector of a Deployment; "" if it is empty. For an empty selector, kinds other than
// Deployment show <none>.
func deploymentSelector(r *row) string {
	selector, err := metav1.LabelSelectorAsSelector(labelSelector(r.get("spec", "selector")))
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// controller returns the object's controller, which an ownerReference names, as kind.group/name; <none> if there is none.
func controller(r *row) string {
	for _, owner := range itemsOf(r.get("metadata", "ownerReferences")) {
		if !owner.Get("controller").Bool() {
			continue
		}
		// The group of a malformed apiVersion is empty.
		gv, _ := schema.ParseGroupVersion(text(owner.Get("apiVersion")))
		kind := schema.GroupKind{Group: gv.Group, Kind: text(owner.Get("kind"))}
		name := text(owner.Get("name"))
		if kind.Empty() {
			return name
		}
		return strings.ToLower(kind.String()) + "/" + name
	}
	return none
}

func jobStatus(r *row) string {
	conditions := r.get("status", "conditions")
	switch {
	case conditionTrue(conditions, "Complete"):
		return "Complete"
	case conditionTrue(conditions, "Failed"):
		return "Failed"
	case r.deleted():
		return "Terminating"
	case conditionTrue(conditions, "Suspended"):
		return "Suspended"
	case conditionTrue(conditions, "FailureTarget"):
		return "FailureTarget"
	case conditionTrue(conditions, "SuccessCriteriaMet"):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

// jobCompletions returns the number of succeeded pods and the desired number. A Job without spec.completions is complete when
// one pod has succeeded, regardless of its parallelism.
func jobCompletions(r *row) string {
	succeeded := strconv.FormatInt(integer(r.get("status", "succeeded")), 10)
	if completions, ok := r.get("spec", "completions").Int64(); ok {
		return succeeded + "/" + strconv.FormatInt(completions, 10)
	}
	if parallel := integer(r.get("spec", "parallelism")); parallel > 1 {
		return succeeded + "/1 of " + strconv.FormatInt(parallel, 10)
	}
	return succeeded + "/1"
}

func jobDuration(r *row) string {
	if r.get("status", "startTime").Kind() != document.String {
		return ""
	}
	start, end := timeOf(r.get("status", "startTime")), r.now
	if r.get("status", "completionTime").Kind() == document.String {
		end = timeOf(r.get("status", "completionTime"))
	}
	return duration.HumanDuration(end.Sub(start))
}

// quotaCell returns the cell that shows used and hard quantities of a ResourceQuota: those of resources with the prefix
// "limits." if limits is set, and those of all other resources if it is not.
func quotaCell(limits bool) cell {
	return textFunction(func(r *row) string {
		hard, used := r.get("status", "hard"), r.get("status", "used")
		if hard.Kind() != document.Map {
			return ""
		}
		var parts []string
		for name, limit := range hard.Fields() {
			if strings.HasPrefix(name, "limits.") == limits {
				parts = append(parts, name+": "+quantity(used.Get(name))+"/"+quantity(limit))
			}
		}
		return strings.Join(parts, ", ")
	})
}
