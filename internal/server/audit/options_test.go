package audit

import (
	"strings"
	"testing"
)

// TestCheck checks that invalid options of enabled backends are rejected with the names of their flags.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(o *Options){
		"--audit-policy-file: expected a file":                 func(o *Options) { o.PolicyFile = "" },
		"--audit-log-maxage: expected 0 or a positive":         func(o *Options) { o.Log.MaxAge = -1 },
		"--audit-log-maxbackup: expected":                      func(o *Options) { o.Log.MaxBackups = -1 },
		"--audit-log-maxsize: expected":                        func(o *Options) { o.Log.MaxSize = -1 },
		`--audit-log-format: expected legacy or json, rec`:     func(o *Options) { o.Log.Format = "xml" },
		"--audit-log-version: expected audit.k8s.io/v1, rec":   func(o *Options) { o.Log.Version = "v2" },
		"--audit-webhook-version: expected audit.k8s.io/v1":    func(o *Options) { o.Webhook.Version = "v2" },
		"--audit-log-mode: expected one of batch, blocking":    func(o *Options) { o.Log.Delivery.Mode = "fast" },
		"--audit-webhook-initial-backoff: expected a duration": func(o *Options) { o.Webhook.InitialBackoff = -1 },
		"--audit-webhook-batch-buffer-size":                    func(o *Options) { o.Webhook.Delivery.Batch.BufferSize = 0 },
		"--audit-webhook-batch-throttle-qps":                   func(o *Options) { o.Webhook.Delivery.Batch.ThrottleQPS = 0 },
		"--audit-log-truncate-max-batch-size":                  func(o *Options) { o.Log.Delivery.Limits.MaxEventSize = 0 },
	} {
		o := Defaults()
		o.PolicyFile, o.Log.Path, o.Webhook.ConfigFile = "policy.yaml", "audit.log", "webhook.yaml"
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		if change(&o); o.Check() == nil || !strings.Contains(o.Check().Error(), want) {
			t.Errorf("Check() = %v, want %s", o.Check(), want)
		}
	}
}

// TestDisabled: without a policy and a backend there is no audit log, and invalid options have no effect.
func TestDisabled(t *testing.T) {
	for _, o := range []Options{{}, Defaults(), {PolicyFile: "policy.yaml"}} {
		if a, err := Open(o); a != nil || err != nil {
			t.Errorf("Open(%+v) = %v, %v, want nil", o, a, err)
		}
	}
	o := Defaults()
	o.PolicyFile, o.Log.Path = "missing.yaml", "-"
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "--audit-policy-file: ") {
		t.Errorf("Open() with a missing policy = %v, want an error", err)
	}
}
