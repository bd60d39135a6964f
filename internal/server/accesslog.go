package server

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/cadastre/cadastre/internal/metrics"
)

// accessLevel is the level of the access log: Kubernetes' -v=3.
const accessLevel = slog.Level(-3)

// maxAuditID is the maximum length of an Audit-Id in the log, in bytes.
const maxAuditID = 64

// hasAccessLog reports whether requests are logged.
func (h *Handler) hasAccessLog() bool { return h.Log.Enabled(context.Background(), accessLevel) }

// logAccess logs the request when it has ended, with the keys of kube-apiserver's log.
func logAccess(q *request, next handler) error {
	if !q.h.logsAccess {
		return next(q)
	}
	// Authentication removes headers of the request.
	agent, mediaType := q.r.UserAgent(), q.r.Header.Get("Content-Type")
	defer func() {
		id := q.responseAuditID()
		q.h.Log.LogAttrs(context.Background(), accessLevel, "HTTP",
			slog.String("verb", string(q.logVerb())), slog.String("URI", cmp.Or(q.r.RequestURI, q.r.URL.RequestURI())), slog.Duration("latency", time.Since(q.start)),
			slog.String("userAgent", agent[:min(len(agent), maxUserAgent)]), slog.String("contentType", mediaType),
			slog.String("audit-ID", id[:min(len(id), maxAuditID)]), slog.String("srcIP", q.r.RemoteAddr), slog.Int("resp", q.w.code))
	}()
	return next(q)
}

// logVerb returns the verb of the request as in metrics, and the method for paths that are not resources.
func (q *request) logVerb() metrics.Verb {
	switch {
	case !q.target.isResource():
		return metrics.Verb(strings.ToUpper(q.r.Method))
	case q.isApply():
		return metrics.Apply
	}
	return metrics.VerbOf(q.target.verb)
}
