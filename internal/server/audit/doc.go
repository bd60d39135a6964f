// Package audit writes the audit log, as kube-apiserver does: a policy selects the requests and the level at which they are recorded,
// and backends write the events to a file or send them to a webhook.
//
// The policy, the events, their encoding and the backends are those of k8s.io/apiserver; this package configures them with the
// flags of kube-apiserver. Package internal/server creates the events.
//
// # Where to look
//
//	options.go  Options: the configuration, and its validation
//	auditor.go  Auditor: the policy and the backends of a server
package audit
