package encoding

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// metricSources maps the type of an autoscaler's metric to the field that describes it. If named is set, the cell of a metric
// starts with the name of the resource.
var metricSources = map[string]struct {
	field string
	named bool
}{
	"External":          {"external", false},
	"Pods":              {"pods", false},
	"Object":            {"object", false},
	"Resource":          {"resource", true},
	"ContainerResource": {"containerResource", true},
}

// autoscalerTargets returns the cell with the current and target values of a HorizontalPodAutoscaler's first metrics.
func autoscalerTargets(r *row) string {
	metrics, statuses := itemsOf(r.get("spec", "metrics")), itemsOf(r.get("status", "currentMetrics"))
	if len(metrics) == 0 {
		return none
	}
	const maximum = 2
	var shown []string
	for i := range min(len(metrics), maximum) {
		var status document.Value
		if i < len(statuses) {
			status = statuses[i]
		}
		shown = append(shown, metricText(metrics[i], status))
	}
	return joinFirst(shown, ", ", len(metrics), maximum)
}

func metricText(metric, status document.Value) string {
	typ := text(metric.Get("type"))
	source, ok := metricSources[typ]
	if !ok {
		return "<unknown type>"
	}
	metric, status = metric.Get(source.field), status.Get(source.field)
	target, current := metric.Get("target"), status.Get("current")
	measured := status.Kind() == document.Map
	switch {
	case source.named:
		return text(metric.Get("name")) + ": " + resourceText(target, current, measured)
	case typ == "Pods":
		return orUnknown(measured, current.Get("averageValue")) + "/" + quantityOrNil(target.Get("averageValue"))
	case isPresent(target.Get("averageValue")):
		average := current.Get("averageValue")
		return orUnknown(measured && isPresent(average), average) + "/" + quantity(target.Get("averageValue")) + " (avg)"
	}
	return orUnknown(measured, current.Get("value")) + "/" + quantityOrNil(target.Get("value"))
}

// resourceText returns the current and the target value of a resource metric: an average quantity, or a utilization in
// percent. measured is false if there is no current value.
func resourceText(target, current document.Value, measured bool) string {
	if average := target.Get("averageValue"); isPresent(average) {
		return orUnknown(measured, current.Get("averageValue")) + "/" + quantity(average)
	}
	return percent(current.Get("averageUtilization"), unknown) + "/" + percent(target.Get("averageUtilization"), "<auto>")
}

// orUnknown returns the text of v, a quantity; <unknown> if measured is false.
func orUnknown(measured bool, v document.Value) string {
	if !measured {
		return unknown
	}
	return quantityOrNil(v)
}

// quantityOrNil returns the text of v, a quantity; <nil> if v is absent, as in Kubernetes.
func quantityOrNil(v document.Value) string {
	if !isPresent(v) {
		return "<nil>"
	}
	return quantity(v)
}

func percent(v document.Value, absent string) string {
	if i, ok := v.Int64(); ok {
		return strconv.FormatInt(i, 10) + "%"
	}
	return absent
}

// isPresent reports whether a value is neither absent nor null.
func isPresent(v document.Value) bool { return !v.IsAbsent() && !v.IsNull() }
