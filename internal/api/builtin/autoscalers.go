package builtin

import "github.com/cadastre/cadastre/document"

func autoscalerBounds(c *checker, scaler, _ document.Value) {
	least, most := scaler.Lookup("spec", "minReplicas"), number(scaler.Lookup("spec", "maxReplicas"))
	if !isNothing(least) && most < number(least) {
		c.invalid(most, "must be greater than or equal to `minReplicas`", "spec", "maxReplicas")
	}
}

const noMetricForZero = "must specify at least one Object or External metric to support scaling to zero replicas"

// autoscalerMetrics wants something to go by when there are no pods.
func autoscalerMetrics(c *checker, scaler, _ document.Value) {
	if least := scaler.Lookup("spec", "minReplicas"); isNothing(least) || number(least) != 0 {
		return
	}
	for _, metric := range scaler.Lookup("spec", "metrics").Items() {
		if kind := metric.Get("type").Text(); kind == "Object" || kind == "External" {
			return
		}
	}
	c.forbidden(noMetricForZero, "spec", "metrics")
}

// autoscalerUtilization checks the one metric that the first version has, which kube-apiserver
// looks at as the others do.
func autoscalerUtilization(c *checker, scaler, _ document.Value) {
	spec := scaler.Get("spec")
	if v := spec.Get("targetCPUUtilizationPercentage"); !isNothing(v) && number(v) < 1 {
		c.push("spec")
		c.push("metrics")
		c.pushItem(0)
		c.invalid(number(v), "must be greater than 0", "resource", "target", "averageUtilization")
		c.where = c.where[:len(c.where)-3]
	}
	autoscalerMetrics(c, scaler, document.Value{})
}

// metricSources are the fields of a metric by its type, in the order in which they are looked at.
var metricSources = []struct{ kind, field string }{
	{"Object", "object"}, {"External", "external"}, {"Pods", "pods"}, {"Resource", "resource"}, {"ContainerResource", "containerResource"},
}

// metricSource wants the source that is of the metric's type, and no other.
func metricSource(c *checker, metric, _ document.Value) {
	kind := metric.Get("type").Text()
	var given []string
	known, expected := false, ""
	for _, s := range metricSources {
		has := !isNothing(metric.Get(s.field))
		if has {
			given = append(given, s.field)
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
	if len(given) == 1 {
		return
	}
	for _, name := range given {
		if name != expected {
			c.forbidden("must populate the given metric source only", name)
		}
	}
}

// metricResource checks the name of a resource of containers.
func metricResource(c *checker, now, _ document.Value) { c.containerResourceName(now.Text()) }
