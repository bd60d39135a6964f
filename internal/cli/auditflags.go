package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/apiserver"
)

// bindAuditFlags adds the flags of kube-apiserver that configure the audit log. o has their defaults.
func bindAuditFlags(flags *pflag.FlagSet, o *apiserver.AuditOptions) {
	flags.StringVar(&o.PolicyFile, "audit-policy-file", "", "The `file` with the audit policy, an object of the kind Policy of audit.k8s.io/v1.")
	flags.StringVar(&o.Log.Path, "audit-log-path", "", "The `file` for the audit log; - means standard output. The default is no audit log.")
	flags.IntVar(&o.Log.MaxAge, "audit-log-maxage", o.Log.MaxAge, "The number of `days` to keep rotated audit logs. 0 keeps them regardless of their age.")
	flags.IntVar(&o.Log.MaxBackups, "audit-log-maxbackup", o.Log.MaxBackups, "The `number` of rotated audit logs to keep. 0 keeps all.")
	flags.IntVar(&o.Log.MaxSize, "audit-log-maxsize", o.Log.MaxSize, "The size in `megabytes` at which the audit log is rotated. 0 disables rotation.")
	flags.BoolVar(&o.Log.Compress, "audit-log-compress", false, "Compress rotated audit logs with gzip.")
	flags.StringVar(&o.Log.Format, "audit-log-format", o.Log.Format, "The format of the audit log: `json|legacy`.")
	flags.StringVar(&o.Log.Version, "audit-log-version", o.Log.Version, "The API `version` of the events in the audit log.")
	flags.StringVar(&o.Webhook.ConfigFile, "audit-webhook-config-file", "", "A `file` in kubeconfig format with the webhook that receives audit events.")
	flags.DurationVar(&o.Webhook.InitialBackoff, "audit-webhook-initial-backoff", o.Webhook.InitialBackoff, "The time to wait before a failed call of the audit webhook is repeated.")
	flags.StringVar(&o.Webhook.Version, "audit-webhook-version", o.Webhook.Version, "The API `version` of the events that the audit webhook receives.")
	bindAuditDelivery(flags, "log", &o.Log.Delivery)
	bindAuditDelivery(flags, "webhook", &o.Webhook.Delivery)
}

// bindAuditDelivery adds the flags that configure how events are delivered to a backend.
func bindAuditDelivery(flags *pflag.FlagSet, backend string, d *apiserver.AuditDelivery) {
	name := func(flag string) string { return "audit-" + backend + "-" + flag }
	flags.StringVar(&d.Mode, name("mode"), d.Mode, "How audit events are delivered: `"+strings.Join(apiserver.AuditModes, "|")+"`. Batch delivers them asynchronously.")
	flags.IntVar(&d.Batch.BufferSize, name("batch-buffer-size"), d.Batch.BufferSize, "The `number` of audit events that are buffered in mode batch; further ones are dropped.")
	flags.IntVar(&d.Batch.MaxBatchSize, name("batch-max-size"), d.Batch.MaxBatchSize, "The maximum `number` of audit events in a batch.")
	flags.DurationVar(&d.Batch.MaxBatchWait, name("batch-max-wait"), d.Batch.MaxBatchWait, "The time after which a batch is delivered although it is not full.")
	flags.BoolVar(&d.Batch.ThrottleEnable, name("batch-throttle-enable"), d.Batch.ThrottleEnable, "Limit the rate of batches.")
	flags.Float32Var(&d.Batch.ThrottleQPS, name("batch-throttle-qps"), d.Batch.ThrottleQPS, "The maximum average `number` of batches per second.")
	flags.IntVar(&d.Batch.ThrottleBurst, name("batch-throttle-burst"), d.Batch.ThrottleBurst, "The maximum `number` of batches that are delivered at the same moment.")
	flags.BoolVar(&d.Truncate, name("truncate-enabled"), d.Truncate, "Omit the objects of audit events that are too large, and split large batches.")
	flags.Int64Var(&d.MaxBatchBytes, name("truncate-max-batch-size"), d.MaxBatchBytes, "The maximum size of a batch in `bytes`.")
	flags.Int64Var(&d.MaxEventBytes, name("truncate-max-event-size"), d.MaxEventBytes, "The maximum size of an audit event in `bytes`.")
}
