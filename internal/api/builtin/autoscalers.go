package builtin

import "github.com/cadastre/cadastre/document"

// checkAutoscalerBounds requires that maxReplicas is not less than minReplicas.
func checkAutoscalerBounds(c *checker, scaler, _ document.Value) {
	minimum, maximum := scaler.Lookup("spec", "minReplicas"), intValue(scaler.Lookup("spec", "maxReplicas"))
	if !isAbsentOrNull(minimum) && maximum < intValue(minimum) {
		c.invalid(maximum, "must be greater than or equal to `minReplicas`", "spec", "maxReplicas")
	}
}

const zeroReplicasDetail = "must specify at least one Object or External metric to support scaling to zero replicas"

// checkAutoscalerMetrics requires an Object or External metric if minReplicas is 0.
func checkAutoscalerMetrics(c *checker, scaler, _ document.Value) {
	if minimum := scaler.Lookup("spec", "minReplicas"); isAbsentOrNull(minimum) || intValue(minimum) != 0 {
		return
	}
	for _, metric := range autoscalerMetrics(scaler).Items() {
		if kind := metric.Get("type").Text(); kind == "Object" || kind == "External" {
			return
		}
	}
	c.forbidden(zeroReplicasDetail, "spec", "metrics")
}

// autoscalerMetrics returns spec.metrics of autoscaling/v2. At autoscaling/v1, an annotation contains the metrics other than
// CPU utilization.
func autoscalerMetrics(scaler document.Value) document.Value {
	text := scaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/metrics").Text()
	if scaler.Get("apiVersion").Text() != "autoscaling/v1" || text == "" {
		return scaler.Lookup("spec", "metrics")
	}
	metrics, err := document.ParseJSON([]byte(text))
	if err != nil {
		return document.Value{} // kube-apiserver ignores an annotation that it cannot decode
	}
	return metrics
}

// checkAutoscalerUtilization requires that targetCPUUtilizationPercentage of autoscaling/v1 is positive. Like kube-apiserver, it
// reports the error at the path of the corresponding autoscaling/v2 metric.
func checkAutoscalerUtilization(c *checker, scaler, _ document.Value) {
	spec := scaler.Get("spec")
	if v := spec.Get("targetCPUUtilizationPercentage"); !isAbsentOrNull(v) && intValue(v) < 1 {
		c.push("spec")
		c.push("metrics")
		c.pushItem(0)
		c.invalid(intValue(v), "must be greater than 0", "resource", "target", "averageUtilization")
		c.path = c.path[:len(c.path)-3]
	}
	checkAutoscalerMetrics(c, scaler, document.Value{})
}

// metricSources pairs each metric type with the field that describes it, in the order of kube-apiserver's errors.
var metricSources = []struct{ kind, field string }{
	{"Object", "object"}, {"External", "external"}, {"Pods", "pods"}, {"Resource", "resource"}, {"ContainerResource", "containerResource"},
}

// checkMetricSource requires the field that describes the metric's type, and forbids the fields of other types.
func checkMetricSource(c *checker, metric, _ document.Value) {
	kind := metric.Get("type").Text()
	var present []string
	known, expected := false, ""
	for _, s := range metricSources {
		has := !isAbsentOrNull(metric.Get(s.field))
		if has {
			present = append(present, s.field)
		}
		if s.kind != kind {
			continue
		}
		known, expected = true, s.field
		if !has {
			c.required("must populate information for the given metric source", s.field)
		}
	}
	if !known {
		c.unsupported(kind, []string{"ContainerResource", "External", "Object", "Pods", "Resource"}, "type")
	}
	if len(present) == 1 {
		return
	}
	for _, name := range present {
		if name != expected {
			c.forbidden("must populate the given metric source only", name)
		}
	}
}

// checkMetricResource requires that the resource name of a metric is valid for containers, such as cpu.
func checkMetricResource(c *checker, value, _ document.Value) {
	c.checkContainerResourceName(value.Text())
}
