package audit

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
	"k8s.io/apiserver/plugin/pkg/audit/webhook"
)

// Auditor evaluates the audit policy and writes events. It is safe for concurrent use.
type Auditor struct {
	policy  audit.PolicyRuleEvaluator
	backend audit.Backend
	// stopped is closed by Close, which also closes the log file, if there is one.
	stopped chan struct{}
	closing sync.Once
	file    io.Closer
}

// Open opens the backends and starts to deliver events. It returns nil if the options disable the audit log.
func Open(o Options) (*Auditor, error) {
	if err := o.Check(); err != nil || !o.Enabled() {
		return nil, err
	}
	rules, err := policy.LoadPolicyFromFile(o.PolicyFile)
	if err != nil {
		return nil, fmt.Errorf("--audit-policy-file: %w", err)
	}
	a := &Auditor{policy: policy.NewPolicyRuleEvaluator(rules), stopped: make(chan struct{})}
	var backends []audit.Backend
	if o.Log.Path != "" {
		w, err := a.openLog(o.Log)
		if err != nil {
			return nil, fmt.Errorf("--audit-log-path: %w", err)
		}
		backends = append(backends, o.Log.Delivery.wrap(auditlog.NewBackend(w, o.Log.Format, auditv1.SchemeGroupVersion)))
	}
	if o.Webhook.ConfigFile != "" {
		b, err := webhook.NewBackend(o.Webhook.ConfigFile, auditv1.SchemeGroupVersion, webhookutil.DefaultRetryBackoffWithInitialDelay(o.Webhook.InitialBackoff), nil)
		if err != nil {
			return nil, fmt.Errorf("--audit-webhook-config-file: %w", err)
		}
		backends = append(backends, o.Webhook.Delivery.wrap(b))
	}
	a.backend = audit.Union(backends...)
	return a, a.backend.Run(a.stopped)
}

// openLog opens the log file, which only its owner can read.
func (a *Auditor) openLog(o LogOptions) (io.Writer, error) {
	if o.Path == "-" {
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(o.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if o.MaxSize == 0 {
		a.file = file
		return file, nil
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	rotated := &lumberjack.Logger{Filename: o.Path, MaxAge: o.MaxAge, MaxBackups: o.MaxBackups, MaxSize: o.MaxSize, Compress: o.Compress}
	a.file = rotated
	return rotated, nil
}

// Evaluate returns the level of a request, the stages that are omitted, and whether managedFields are omitted.
func (a *Auditor) Evaluate(attributes authorizer.Attributes) audit.RequestAuditConfig {
	return a.policy.EvaluatePolicyRule(attributes)
}

// Write writes an event. It returns false if the event could not be delivered and the request must fail. The backends do not retain
// the event.
func (a *Auditor) Write(event *auditinternal.Event) bool { return a.backend.ProcessEvents(event) }

// Close delivers the buffered events and closes the log file.
func (a *Auditor) Close() (err error) {
	a.closing.Do(func() {
		close(a.stopped)
		a.backend.Shutdown()
		if a.file != nil {
			err = a.file.Close()
		}
	})
	return err
}

// wrap returns a backend that delivers events to b as d describes.
func (d Delivery) wrap(b audit.Backend) audit.Backend {
	switch d.Mode {
	case Blocking:
		b = &lenientBackend{b}
	case Batch:
		b = buffered.NewBackend(b, d.Batch)
	}
	if d.Truncate {
		b = truncate.NewBackend(b, d.Limits, auditv1.SchemeGroupVersion)
	}
	return b
}

// lenientBackend is a backend whose errors do not fail requests.
type lenientBackend struct{ audit.Backend }

// ProcessEvents implements audit.Sink.
func (b *lenientBackend) ProcessEvents(events ...*auditinternal.Event) bool {
	b.Backend.ProcessEvents(events...)
	return true
}
