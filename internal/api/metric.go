package api

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// metricField maps a field of a metric in the annotations of autoscaling/v1 to its path in autoscaling/v2.
type metricField struct {
	v1, v2 string
	// required makes a conversion in either direction set the field to "0" if it is absent.
	required bool
}

// metricSpecs and metricStatuses list the fields of each metric type, in spec.metrics and in status.currentMetrics.
var (
	metricSpecs = map[string][]metricField{
		"object": {{"target", "describedObject", false}, {"metricName", "metric.name", false}, {"selector", "metric.selector", false},
			{"targetValue", "target.value", true}, {"averageValue", "target.averageValue", false}},
		"pods": {{"metricName", "metric.name", false}, {"selector", "metric.selector", false}, {"targetAverageValue", "target.averageValue", true}},
		"resource": {{"name", "name", false}, {"targetAverageUtilization", "target.averageUtilization", false},
			{"targetAverageValue", "target.averageValue", false}},
		"containerResource": {{"name", "name", false}, {"container", "container", false}, {"targetAverageUtilization", "target.averageUtilization", false},
			{"targetAverageValue", "target.averageValue", false}},
		"external": {{"metricName", "metric.name", false}, {"metricSelector", "metric.selector", false},
			{"targetValue", "target.value", false}, {"targetAverageValue", "target.averageValue", false}},
	}
	metricStatuses = map[string][]metricField{
		"object": {{"target", "describedObject", false}, {"metricName", "metric.name", false}, {"selector", "metric.selector", false},
			{"currentValue", "current.value", true}, {"averageValue", "current.averageValue", false}},
		"pods": {{"metricName", "metric.name", false}, {"selector", "metric.selector", false}, {"currentAverageValue", "current.averageValue", true}},
		"resource": {{"name", "name", false}, {"currentAverageUtilization", "current.averageUtilization", false},
			{"currentAverageValue", "current.averageValue", true}},
		"containerResource": {{"name", "name", false}, {"container", "container", false}, {"currentAverageUtilization", "current.averageUtilization", false},
			{"currentAverageValue", "current.averageValue", true}},
		"external": {{"metricName", "metric.name", false}, {"metricSelector", "metric.selector", false},
			{"currentValue", "current.value", true}, {"currentAverageValue", "current.averageValue", false}},
	}
)

// metricToV1 converts a v2 metric to the encoding in the annotations of v1. fields is metricSpecs or metricStatuses.
func metricToV1(metric document.Value, fields map[string][]metricField) document.Value {
	return mapMetric(metric, fields, func(source document.Value, fields []metricField, _ string) document.Value {
		doc := document.NewMap()
		for _, f := range fields {
			v := source.Lookup(strings.Split(f.v2, ".")...)
			if v.IsAbsent() && f.required {
				v = document.NewString("0")
			}
			doc = doc.With(f.v1, v)
		}
		return doc
	})
}

// metricToV2 converts a metric from the encoding in the annotations of v1 to v2. fields is metricSpecs or metricStatuses.
func metricToV2(metric document.Value, fields map[string][]metricField) document.Value {
	return mapMetric(metric, fields, func(source document.Value, fields []metricField, name string) document.Value {
		doc := document.NewMap()
		for _, f := range fields {
			v := source.Get(f.v1)
			if v.IsAbsent() && f.required {
				v = document.NewString("0")
			}
			doc = put(doc, v, strings.Split(f.v2, ".")...)
		}
		if target := doc.Get("target"); target.Kind() == document.Map {
			doc = doc.With("target", setTargetType(name, target))
		}
		return doc
	})
}

func mapMetric(metric document.Value, fields map[string][]metricField, convert func(source document.Value, fields []metricField, name string) document.Value) document.Value {
	for name, list := range fields {
		if source := metric.Get(name); source.Kind() == document.Map {
			metric = metric.With(name, convert(source, list, name))
		}
	}
	return metric
}

// setTargetType returns a v2 metric target with the field type, which v1 does not define. The type follows from metric, the
// metric type, and from the values that target sets.
func setTargetType(metric string, target document.Value) document.Value {
	value, average, utilization := target.Get("value"), target.Get("averageValue"), target.Get("averageUtilization")
	kind := "AverageValue"
	switch metric {
	case "object":
		if average.IsAbsent() {
			kind = "Value"
		} else if isZero(value) {
			target = target.Without("value") // "0" means unset, because v1 requires the field
		}
	case "external":
		if !value.IsAbsent() {
			kind = "Value"
		}
	case "resource", "containerResource":
		if !utilization.IsAbsent() {
			kind = "Utilization"
		}
	}
	return target.With("type", document.NewString(kind))
}

// isZero reports whether a quantity is zero. It examines only the digits, because quantities in annotations are not
// validated, and parsing 1e-999999999 takes minutes.
func isZero(quantity document.Value) bool {
	number := quantity.Text()
	if suffix := strings.IndexAny(number, "eEinumkKMGTP"); suffix >= 0 {
		number = number[:suffix]
	}
	return number != "" && strings.Trim(number, "+-.0") == ""
}

// metricRanks lists the JSON names of the fields of metrics and conditions in the order of their Go structs, which is the
// order in which Kubernetes writes them to annotations.
var metricRanks = strings.Fields(`type status lastTransitionTime reason message
	object pods resource containerResource external target kind name apiVersion metricName metricSelector
	targetValue currentValue targetAverageUtilization currentAverageUtilization
	targetAverageValue currentAverageValue selector averageValue container
	matchLabels matchExpressions key operator values`)

// appendRanked appends a value as JSON, with fields in the order of metricRanks.
func appendRanked(dst []byte, v document.Value) []byte {
	switch v.Kind() {
	case document.List:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendRanked(dst, item)
		}
		return append(dst, ']')
	case document.Map:
		return appendRankedMap(dst, v)
	}
	return v.AppendJSON(dst)
}

func appendRankedMap(dst []byte, v document.Value) []byte {
	names := make([]string, 0, v.Len())
	for name := range v.Fields() {
		names = append(names, name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(metricRanks, a) - slices.Index(metricRanks, b) })
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(document.AppendString(dst, name), ':')
		if name == "matchLabels" {
			dst = v.Get(name).AppendJSON(dst) // labels are sorted by key instead
		} else {
			dst = appendRanked(dst, v.Get(name))
		}
	}
	return append(dst, '}')
}
