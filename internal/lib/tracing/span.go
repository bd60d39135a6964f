package tracing

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-base/tracing"
)

// Span is the span of a request, with that of its current stage. It is used by one goroutine at a time. All methods do nothing if it is
// nil.
type Span struct {
	ctx    context.Context
	tracer trace.Tracer
	span   trace.Span
	stage  trace.Span // nil before the first stage
}

// Request describes a request for its span.
type Request struct {
	HTTP  *http.Request
	Start time.Time
	// Name is the name of the span. AuditID is "" if the request has none.
	Name, AuditID string
	User          user.Info
}

// Start starts the span of a request, and returns it with the request's context, which contains the span for requests that the server
// sends. The span is nil if the request is not traced.
func (p *Provider) Start(r Request) (context.Context, *Span) {
	ctx := r.HTTP.Context()
	if p == nil {
		return ctx, nil
	}
	ctx = tracing.Propagators().Extract(ctx, propagation.HeaderCarrier(r.HTTP.Header))
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(r.Start),
		trace.WithAttributes(
			attribute.String("http.request.method", r.HTTP.Method), attribute.String("url.path", r.HTTP.URL.Path),
			attribute.String("http.target", r.HTTP.URL.RequestURI()), attribute.String("user_agent.original", r.HTTP.UserAgent()),
			attribute.String("network.peer.address", r.HTTP.RemoteAddr), attribute.String("audit-id", r.AuditID),
		),
	}
	if remote := trace.SpanContextFromContext(ctx); remote.IsValid() && !isTrusted(r.User) {
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: remote}))
	}
	ctx, span := p.tracer.Start(ctx, r.Name, options...)
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, &Span{ctx: ctx, tracer: p.tracer, span: span}
}

// isTrusted reports whether the traces of a user are continued.
func isTrusted(u user.Info) bool {
	return u != nil && slices.ContainsFunc(u.GetGroups(), func(group string) bool {
		return group == user.SystemPrivilegedGroup || group == user.MonitoringGroup
	})
}

// Stage ends the span of the current stage and starts that of the next one.
func (s *Span) Stage(name string) {
	if s == nil {
		return
	}
	s.endStage()
	_, s.stage = s.tracer.Start(s.ctx, name)
}

func (s *Span) endStage() {
	if s.stage != nil {
		s.stage.End()
	}
}

// End ends the span of the request. code is the HTTP status code of the response; 0 if there is none.
func (s *Span) End(code int) {
	if s == nil {
		return
	}
	s.endStage()
	s.span.SetAttributes(attribute.Int("http.response.status_code", code))
	if code >= http.StatusInternalServerError || code == 0 {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Inject adds the traceparent of the span in ctx, if there is one, to the header of a request that the server sends.
func Inject(ctx context.Context, header http.Header) {
	if trace.SpanContextFromContext(ctx).IsValid() {
		tracing.Propagators().Inject(ctx, propagation.HeaderCarrier(header))
	}
}
