package encoding

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
)

// deploymentSelector is "" where other kinds have <none>.
func deploymentSelector(r *row) string {
	selector, err := metav1.LabelSelectorAsSelector(labelSelector(r.get("spec", "selector")))
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// controller returns the owner that controls the object, as kind.group/name.
func controller(r *row) string {
	for _, owner := range listOf(r.get("metadata", "ownerReferences")) {
		if !owner.Get("controller").Bool() {
			continue
		}
		// An apiVersion that can't be read has no group.
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

// jobCompletions counts what has succeeded. A job without a number of completions is done when one
// pod has succeeded, however many run at a time.
func jobCompletions(r *row) string {
	succeeded := strconv.FormatInt(integer(r.get("status", "succeeded")), 10)
	if wanted, ok := r.get("spec", "completions").Int64(); ok {
		return succeeded + "/" + strconv.FormatInt(wanted, 10)
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

// quotaCell makes the cell that has the quotas of limits, or that of all others.
func quotaCell(limits bool) cell {
	return textFunction(func(r *row) string {
		hard, used := r.get("status", "hard"), r.get("status", "used")
		if hard.Kind() != document.Map {
			return ""
		}
		var parts []string
		for name, most := range hard.Fields() {
			if strings.HasPrefix(name, "limits.") == limits {
				parts = append(parts, name+": "+quantity(used.Get(name))+"/"+quantity(most))
			}
		}
		return strings.Join(parts, ", ")
	})
}
