package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
	"k8s.io/apiserver/plugin/pkg/audit/webhook"
)

// Options configures the audit log. The zero value disables it; Defaults returns kube-apiserver's defaults.
type Options struct {
	// PolicyFile is the file with the Policy of audit.k8s.io/v1. Without a policy no requests are recorded.
	PolicyFile string
	Log        LogOptions
	Webhook    WebhookOptions
}

// LogOptions configures the log file.
type LogOptions struct {
	// Path is the name of the file; "" disables the log, and - means standard output.
	Path string
	// MaxAge is the number of days, and MaxBackups the number of rotated files, after which old files are deleted; 0 means never.
	// MaxSize is the size in megabytes at which the file is rotated; 0 means never. Compress compresses rotated files.
	MaxAge, MaxBackups, MaxSize int
	Compress                    bool
	// Format is json or legacy.
	Format, Version string
	Delivery        Delivery
}

// WebhookOptions configures the webhook.
type WebhookOptions struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook; "" disables the webhook.
	ConfigFile     string
	InitialBackoff time.Duration
	Version        string
	Delivery       Delivery
}

// The values of Delivery.Mode: batch sends events asynchronously, blocking before the response, and blocking-strict also fails a
// request whose event of the stage RequestReceived cannot be delivered.
const (
	Batch          = "batch"
	Blocking       = "blocking"
	BlockingStrict = "blocking-strict"
)

// Modes lists the values of Delivery.Mode.
var Modes = []string{Batch, Blocking, BlockingStrict}

// Delivery configures how events are delivered to a backend.
type Delivery struct {
	Mode     string
	Batch    buffered.BatchConfig
	Truncate bool
	Limits   truncate.Config
}

// version is the only version of events.
var version = auditv1.SchemeGroupVersion.String()

// Defaults returns the defaults of kube-apiserver's flags.
func Defaults() Options {
	limits := truncate.Config{MaxBatchSize: 10 << 20, MaxEventSize: 100 << 10}
	return Options{
		Log: LogOptions{
			MaxAge: 366, MaxBackups: 100, MaxSize: 100, Format: auditlog.FormatJson, Version: version,
			Delivery: Delivery{Mode: Blocking, Limits: limits, Batch: buffered.BatchConfig{BufferSize: 10000, MaxBatchSize: 1}},
		},
		Webhook: WebhookOptions{
			InitialBackoff: webhook.DefaultInitialBackoffDelay, Version: version,
			Delivery: Delivery{Mode: Batch, Limits: limits, Batch: buffered.BatchConfig{
				BufferSize: 10000, MaxBatchSize: 400, MaxBatchWait: 30 * time.Second,
				ThrottleEnable: true, ThrottleQPS: 10, ThrottleBurst: 15, AsyncDelegate: true,
			}},
		},
	}
}

// Enabled reports whether there is a policy, and a backend to which events are written.
func (o Options) Enabled() bool {
	return o.PolicyFile != "" && (o.Log.Path != "" || o.Webhook.ConfigFile != "")
}

// Check returns an error if an option of an enabled backend is invalid. The errors name the flags of the command line.
func (o Options) Check() error {
	if o.PolicyFile == "" && (o.Log.Path != "" || o.Webhook.ConfigFile != "") {
		return errors.New("--audit-policy-file: expected a file, received none; without a policy no requests are recorded")
	}
	if o.Log.Path != "" {
		if err := o.Log.check(); err != nil {
			return err
		}
	}
	if o.Webhook.ConfigFile == "" {
		return nil
	}
	if o.Webhook.InitialBackoff < 0 {
		return fmt.Errorf("--audit-webhook-initial-backoff: expected a duration such as 10s, received %s", o.Webhook.InitialBackoff)
	}
	return errors.Join(checkVersion("webhook", o.Webhook.Version), o.Webhook.Delivery.check("webhook"))
}

func (o LogOptions) check() error {
	for flag, value := range map[string]int{"maxage": o.MaxAge, "maxbackup": o.MaxBackups, "maxsize": o.MaxSize} {
		if value < 0 {
			return fmt.Errorf("--audit-log-%s: expected 0 or a positive number, received %d", flag, value)
		}
	}
	if !slices.Contains(auditlog.AllowedFormats, o.Format) {
		return fmt.Errorf("--audit-log-format: expected %s, received %q", strings.Join(auditlog.AllowedFormats, " or "), o.Format)
	}
	return errors.Join(checkVersion("log", o.Version), o.Delivery.check("log"))
}

func checkVersion(backend, received string) error {
	if received != version {
		return fmt.Errorf("--audit-%s-version: expected %s, received %q", backend, version, received)
	}
	return nil
}

// check returns an error if an option is invalid. backend is the name of the backend in flags.
func (d Delivery) check(backend string) error {
	if !slices.Contains(Modes, d.Mode) {
		return fmt.Errorf("--audit-%s-mode: expected one of %s, received %q", backend, strings.Join(Modes, ", "), d.Mode)
	}
	if d.Limits.MaxEventSize <= 0 || d.Limits.MaxBatchSize < d.Limits.MaxEventSize {
		return fmt.Errorf("--audit-%s-truncate-max-batch-size, --audit-%s-truncate-max-event-size: expected positive sizes, and a batch size of at least the event size, received %d and %d",
			backend, backend, d.Limits.MaxBatchSize, d.Limits.MaxEventSize)
	}
	if d.Mode != Batch {
		return nil
	}
	if d.Batch.BufferSize <= 0 || d.Batch.MaxBatchSize <= 0 {
		return fmt.Errorf("--audit-%s-batch-buffer-size, --audit-%s-batch-max-size: expected positive numbers, received %d and %d", backend, backend, d.Batch.BufferSize, d.Batch.MaxBatchSize)
	}
	if d.Batch.ThrottleEnable && (d.Batch.ThrottleQPS <= 0 || d.Batch.ThrottleBurst <= 0) {
		return fmt.Errorf("--audit-%s-batch-throttle-qps, --audit-%s-batch-throttle-burst: expected positive numbers, received %g and %d", backend, backend, d.Batch.ThrottleQPS, d.Batch.ThrottleBurst)
	}
	return nil
}
