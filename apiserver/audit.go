package apiserver

import (
	"time"

	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"

	"github.com/cadastre/cadastre/internal/server/audit"
)

// AuditOptions configures the audit log, with the flags of kube-apiserver. The zero value disables it. [DefaultAuditOptions]
// returns the defaults, to which a policy and a file or a webhook must be added.
type AuditOptions struct {
	// PolicyFile is the file with the Policy of audit.k8s.io/v1. Without a policy nothing is recorded.
	PolicyFile string
	Log        AuditLog
	Webhook    AuditWebhook
}

// AuditLog configures the log file of the audit log.
type AuditLog struct {
	// Path is the name of the file; "" disables the log file, and - means standard output.
	Path string
	// MaxAge is the number of days, and MaxBackups the number of rotated files, after which old files are deleted; 0 means never.
	// MaxSize is the size in megabytes at which the file is rotated; 0 means never. Compress compresses rotated files.
	MaxAge, MaxBackups, MaxSize int
	Compress                    bool
	// Format is json or legacy. Version is the API version of the events, audit.k8s.io/v1.
	Format, Version string
	Delivery        AuditDelivery
}

// AuditWebhook configures the webhook that receives the audit log.
type AuditWebhook struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook; "" disables the webhook.
	ConfigFile string
	// InitialBackoff is the time before a failed call is repeated for the first time.
	InitialBackoff time.Duration
	// Version is the API version of the events, audit.k8s.io/v1.
	Version  string
	Delivery AuditDelivery
}

// AuditDelivery configures how audit events are delivered to the log file or the webhook.
type AuditDelivery struct {
	// Mode is one of [AuditModes]: batch sends events asynchronously, blocking before the response, and blocking-strict also fails
	// a request whose event of the stage RequestReceived cannot be delivered.
	Mode string
	// Batch configures the mode batch.
	Batch AuditBatch
	// Truncate omits the objects of events that are larger than MaxEventBytes, and splits batches that are larger than
	// MaxBatchBytes.
	Truncate                     bool
	MaxBatchBytes, MaxEventBytes int64
}

// AuditBatch configures the mode batch.
type AuditBatch struct {
	// BufferSize is the maximum number of waiting events, beyond which events are dropped. MaxBatchSize is the maximum number of
	// events in a batch, and MaxBatchWait the time after which a batch that is not full is sent.
	BufferSize, MaxBatchSize int
	MaxBatchWait             time.Duration
	// ThrottleEnable limits the number of batches per second to ThrottleQPS on average, and to ThrottleBurst at once.
	ThrottleEnable bool
	ThrottleQPS    float32
	ThrottleBurst  int
}

// AuditModes lists the values of AuditDelivery.Mode.
var AuditModes = audit.Modes

// DefaultAuditOptions returns the defaults of kube-apiserver's flags.
func DefaultAuditOptions() AuditOptions {
	d := audit.Defaults()
	return AuditOptions{
		PolicyFile: d.PolicyFile,
		Log: AuditLog{
			Path: d.Log.Path, MaxAge: d.Log.MaxAge, MaxBackups: d.Log.MaxBackups, MaxSize: d.Log.MaxSize, Compress: d.Log.Compress,
			Format: d.Log.Format, Version: d.Log.Version, Delivery: publicDelivery(d.Log.Delivery),
		},
		Webhook: AuditWebhook{
			ConfigFile: d.Webhook.ConfigFile, InitialBackoff: d.Webhook.InitialBackoff, Version: d.Webhook.Version,
			Delivery: publicDelivery(d.Webhook.Delivery),
		},
	}
}

// Check returns an error if an option of an enabled log or webhook is invalid. The errors name the flags of kube-apiserver.
// [New] calls it.
func (o AuditOptions) Check() error { return o.config().Check() }

func publicDelivery(d audit.Delivery) AuditDelivery {
	return AuditDelivery{
		Mode: d.Mode, Truncate: d.Truncate, MaxBatchBytes: d.Limits.MaxBatchSize, MaxEventBytes: d.Limits.MaxEventSize,
		Batch: AuditBatch{
			BufferSize: d.Batch.BufferSize, MaxBatchSize: d.Batch.MaxBatchSize, MaxBatchWait: d.Batch.MaxBatchWait,
			ThrottleEnable: d.Batch.ThrottleEnable, ThrottleQPS: d.Batch.ThrottleQPS, ThrottleBurst: d.Batch.ThrottleBurst,
		},
	}
}

// config returns the options of the audit log as the server uses them.
func (o AuditOptions) config() audit.Options {
	c := audit.Options{
		PolicyFile: o.PolicyFile,
		Log: audit.LogOptions{
			Path: o.Log.Path, MaxAge: o.Log.MaxAge, MaxBackups: o.Log.MaxBackups, MaxSize: o.Log.MaxSize, Compress: o.Log.Compress,
			Format: o.Log.Format, Version: o.Log.Version, Delivery: o.Log.Delivery.config(),
		},
		Webhook: audit.WebhookOptions{
			ConfigFile: o.Webhook.ConfigFile, InitialBackoff: o.Webhook.InitialBackoff, Version: o.Webhook.Version,
			Delivery: o.Webhook.Delivery.config(),
		},
	}
	c.Webhook.Delivery.Batch.AsyncDelegate = true // as kube-apiserver: a slow call does not delay the next batch
	return c
}

func (d AuditDelivery) config() audit.Delivery {
	return audit.Delivery{
		Mode: d.Mode, Truncate: d.Truncate, Limits: truncate.Config{MaxBatchSize: d.MaxBatchBytes, MaxEventSize: d.MaxEventBytes},
		Batch: buffered.BatchConfig{
			BufferSize: d.Batch.BufferSize, MaxBatchSize: d.Batch.MaxBatchSize, MaxBatchWait: d.Batch.MaxBatchWait,
			ThrottleEnable: d.Batch.ThrottleEnable, ThrottleQPS: d.Batch.ThrottleQPS, ThrottleBurst: d.Batch.ThrottleBurst,
		},
	}
}
