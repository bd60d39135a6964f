package api

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// Annotations in which a HorizontalPodAutoscaler of autoscaling/v1 stores, as JSON, the fields that only v2 defines:
// metrics other than CPU utilization, behavior and conditions.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

// conversionAnnotations are the annotations that a conversion to v1 sets, including those of earlier Kubernetes releases. A
// conversion removes all conversionAnnotations before it sets annotations.
var conversionAnnotations = []string{
	metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
}

// defaultUtilization is the target CPU utilization, in percent, that a v1 HorizontalPodAutoscaler without any metric gets
// when it is converted to v2.
const defaultUtilization = 80

// autoscalerV2ToV1 converts a HorizontalPodAutoscaler from autoscaling/v2 to autoscaling/v1: the first CPU utilization
// metric becomes targetCPUUtilizationPercentage, and fields that v1 does not define become annotations.
func autoscalerV2ToV1(doc document.Value) document.Value {
	spec, status, annotations := doc.Get("spec"), doc.Get("status"), removeConversionAnnotations(doc.Lookup("metadata", "annotations"))
	var percentage, current document.Value
	var others []document.Value
	for _, m := range spec.Get("metrics").Items() {
		utilization := cpuUtilization(m, "target")
		switch {
		case utilization.IsAbsent():
			others = append(others, metricToV1(m, metricSpecs))
		case percentage.IsAbsent():
			percentage = utilization
		}
	}
	var currents []document.Value
	for _, m := range status.Get("currentMetrics").Items() {
		currents = append(currents, metricToV1(m, metricStatuses))
		if utilization := cpuUtilization(m, "current"); !utilization.IsAbsent() {
			current = utilization
		}
	}
	annotations = setAnnotationList(annotations, metricsAnnotation, others)
	annotations = setAnnotationList(annotations, currentMetricsAnnotation, currents)
	if b := spec.Get("behavior"); b.Kind() == document.Map {
		annotations = annotations.With(behaviorAnnotation, document.NewString(formatBehavior(b)))
	}
	var conditions []document.Value
	for _, c := range status.Get("conditions").Items() {
		if c.Get("lastTransitionTime").IsAbsent() {
			c = c.With("lastTransitionTime", document.NewNull())
		}
		conditions = append(conditions, c)
	}
	annotations = setAnnotationList(annotations, conditionsAnnotation, conditions)
	spec = addRequiredFields(spec).Without("metrics").Without("behavior").With("targetCPUUtilizationPercentage", percentage)
	status = status.Without("currentMetrics").Without("conditions").With("currentCPUUtilizationPercentage", current)
	status = withZero(withZero(status, "currentReplicas"), "desiredReplicas")
	return setAnnotations(doc, annotations).With("spec", spec).With("status", status)
}

// autoscalerV1ToV2 converts a HorizontalPodAutoscaler from autoscaling/v1 to autoscaling/v2; it is the inverse of
// autoscalerV2ToV1. Malformed annotations are ignored.
func autoscalerV1ToV2(doc document.Value) document.Value {
	spec, status, annotations := doc.Get("spec"), doc.Get("status"), doc.Lookup("metadata", "annotations")
	metrics, _ := annotationList(annotations, metricsAnnotation)
	for i, m := range metrics {
		metrics[i] = metricToV2(m, metricSpecs)
	}
	switch percentage := spec.Get("targetCPUUtilizationPercentage"); {
	case !isEmpty(percentage):
		metrics = append(metrics, cpuMetric("target", percentage, true))
	case len(metrics) == 0:
		metrics = append(metrics, cpuMetric("target", document.NewInt(defaultUtilization), true))
	}
	currents, ok := annotationList(annotations, currentMetricsAnnotation)
	for i, m := range currents {
		currents[i] = metricToV2(m, metricStatuses)
	}
	if percentage := status.Get("currentCPUUtilizationPercentage"); !ok && !isEmpty(percentage) {
		currents = append(currents, cpuMetric("current", percentage, false))
	}
	conditions, _ := annotationList(annotations, conditionsAnnotation)
	spec = addRequiredFields(spec).Without("targetCPUUtilizationPercentage").With("metrics", document.NewList(metrics...))
	spec = spec.With("behavior", parseBehavior(annotations.Get(behaviorAnnotation).Text()))
	status = withZero(status.Without("currentCPUUtilizationPercentage"), "desiredReplicas")
	if n, ok := status.Get("currentReplicas").Int64(); ok && n == 0 {
		status = status.Without("currentReplicas")
	}
	status = status.With("currentMetrics", document.NewNull())
	if len(currents) > 0 {
		status = status.With("currentMetrics", document.NewList(currents...))
	}
	if len(conditions) > 0 {
		status = status.With("conditions", document.NewList(conditions...))
	}
	return setAnnotations(doc, removeConversionAnnotations(annotations)).With("spec", spec).With("status", status)
}

// addRequiredFields returns spec with zero values for absent required fields (maxReplicas, and the kind and name of
// scaleTargetRef), as Kubernetes' conversion does. So a required field remains in the object if its field manager no longer
// applies it.
func addRequiredFields(spec document.Value) document.Value {
	spec = withZero(spec, "maxReplicas")
	target := spec.Get("scaleTargetRef")
	if !target.Get("kind").IsAbsent() && !target.Get("name").IsAbsent() {
		return spec
	}
	for _, name := range []string{"kind", "name"} {
		if target.Get(name).IsAbsent() {
			target = target.With(name, document.NewString(""))
		}
	}
	return spec.With("scaleTargetRef", target)
}

func withZero(status document.Value, name string) document.Value {
	if status.Get(name).IsAbsent() {
		return status.With(name, document.NewInt(0))
	}
	return status
}

// cpuUtilization returns the averageUtilization of a CPU resource metric, which is in the given field: "target" in a metric of
// the spec, "current" in a metric of the status. It returns an absent value for metrics that are not CPU resource metrics.
func cpuUtilization(metric document.Value, field string) document.Value {
	r := metric.Get("resource")
	if metric.Get("type").Text() != "Resource" || r.Get("name").Text() != "cpu" {
		return document.Value{}
	}
	if v := r.Lookup(field, "averageUtilization"); !v.IsNull() {
		return v
	}
	return document.Value{}
}

func cpuMetric(field string, percentage document.Value, typed bool) document.Value {
	target := document.NewMap(document.Field{Name: "averageUtilization", Value: percentage})
	if typed {
		target = target.With("type", document.NewString("Utilization"))
	}
	return document.NewMap(
		document.Field{Name: "type", Value: document.NewString("Resource")},
		document.Field{Name: "resource", Value: document.NewMap(
			document.Field{Name: "name", Value: document.NewString("cpu")},
			document.Field{Name: field, Value: target},
		)},
	)
}

func setAnnotations(doc, annotations document.Value) document.Value {
	if annotations.Len() == 0 {
		annotations = document.Value{}
	}
	return removeEmptyMetadata(put(doc, annotations, "metadata", "annotations"))
}

// removeEmptyMetadata removes empty finalizers, labels and ownerReferences from the metadata, as Kubernetes' conversion does.
func removeEmptyMetadata(doc document.Value) document.Value {
	for _, name := range []string{"finalizers", "labels", "ownerReferences"} {
		if v := doc.Lookup("metadata", name); !v.IsAbsent() && isEmpty(v) {
			doc = put(doc, document.Value{}, "metadata", name)
		}
	}
	return doc
}

func removeConversionAnnotations(annotations document.Value) document.Value {
	for _, name := range conversionAnnotations {
		if !annotations.Get(name).IsAbsent() {
			annotations = annotations.Without(name)
		}
	}
	return annotations
}

// setAnnotationList returns annotations with list, encoded as JSON, in the annotation with the given name. It returns
// annotations unchanged if list is empty.
func setAnnotationList(annotations document.Value, name string, list []document.Value) document.Value {
	if len(list) == 0 {
		return annotations
	}
	return annotations.With(name, document.NewString(string(appendRanked(nil, document.NewList(list...)))))
}

// annotationList returns the list that the annotation with the given name stores as JSON; ok is false if the annotation is
// absent or malformed.
func annotationList(annotations document.Value, name string) (list []document.Value, ok bool) {
	text := annotations.Get(name)
	if text.Kind() != document.String {
		return nil, false
	}
	doc, err := document.ParseJSON(text.Text())
	if err != nil || doc.Kind() != document.List && !doc.IsNull() {
		return nil, false
	}
	for _, item := range doc.Items() {
		list = append(list, item)
	}
	return list, true
}

// behavior is spec.behavior as Kubernetes encodes it in behaviorAnnotation: JSON with the names of Go struct fields
// (ScaleUp) instead of the API's field names (scaleUp).
type behavior struct{ ScaleUp, ScaleDown *scalingRules }

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *string
	Policies                   []scalingPolicy
	Tolerance                  *resource.Quantity
}

type scalingPolicy struct {
	Type                 string
	Value, PeriodSeconds int32
}

func formatBehavior(v document.Value) string {
	var b behavior
	if json.Unmarshal([]byte(v.JSON()), &b) != nil {
		return "null" // unreachable: validation rejects the value before conversion
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // unreachable: the struct has no type that json.Marshal rejects
	}
	return string(text)
}

// parseBehavior parses the annotation text that formatBehavior returns. It returns an absent value if the text is malformed or
// empty.
func parseBehavior(text string) document.Value {
	var b behavior
	if json.Unmarshal([]byte(text), &b) != nil || b == (behavior{}) {
		return document.Value{}
	}
	return document.NewMap(
		document.Field{Name: "scaleDown", Value: b.ScaleDown.document()},
		document.Field{Name: "scaleUp", Value: b.ScaleUp.document()},
	)
}

func (r *scalingRules) document() document.Value {
	if r == nil {
		return document.Value{}
	}
	doc := document.NewMap()
	if r.StabilizationWindowSeconds != nil {
		doc = doc.With("stabilizationWindowSeconds", document.NewInt(int64(*r.StabilizationWindowSeconds)))
	}
	if r.SelectPolicy != nil {
		doc = doc.With("selectPolicy", document.NewString(*r.SelectPolicy))
	}
	if r.Tolerance != nil {
		doc = doc.With("tolerance", document.NewString(r.Tolerance.String()))
	}
	var policies []document.Value
	for _, p := range r.Policies {
		policies = append(policies, document.NewMap(
			document.Field{Name: "type", Value: document.NewString(p.Type)},
			document.Field{Name: "value", Value: document.NewInt(int64(p.Value))},
			document.Field{Name: "periodSeconds", Value: document.NewInt(int64(p.PeriodSeconds))},
		))
	}
	if len(policies) > 0 {
		doc = doc.With("policies", document.NewList(policies...))
	}
	return doc
}
