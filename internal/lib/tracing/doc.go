// Package tracing makes OpenTelemetry traces of requests, as configured by a TracingConfiguration of apiserver.config.k8s.io.
//
// A trace has one span for the request, and a child span for each stage of it. As in kube-apiserver, the traceparent of a request is
// continued if its user is in the group system:masters or system:monitoring; for other users it becomes a link of a new trace, because
// they could otherwise make the server send any number of spans. Without a traceparent, samplingRatePerMillion requests per million are traced.
//
// A nil *Span is valid and does nothing, so that a request that is not traced costs one comparison per stage.
package tracing
