// Package metrics defines and records the Prometheus metrics of the server. Names, labels and buckets are those of
// kube-apiserver 1.37, so that its dashboards and alerts work; the names of metrics that only Cadastre has start with
// cadastre_.
//
// A server has one [Metrics] with its own Prometheus registry. Several servers in a process share only the metrics of the
// process and of the Go runtime.
//
// # Cost
//
// Looking up a series by its labels hashes all labels and allocates. Therefore a request looks up its [Endpoint], and a watch
// its [Watched], only once. A series is created by the first request that it counts, so that scrapes do not contain thousands
// of unused series.
//
// # Missing metrics
//
// The server does not have the metrics of the audit log, which are not implemented, and of etcd, which it does not use. A
// constant 0 would be misleading.
//
// # Where to look
//
//	metrics.go        Metrics: New, Handler, commits, managed fields entries
//	families.go       all metrics with their labels, buckets and help texts
//	requestlabels.go  the labels of request metrics, such as verb and scope
//	endpoint.go       requests: counts by status code, durations, sizes, long-running requests
//	watchevents.go    watch events: counts and sizes
//	inflight.go       the number of requests in flight and in queues
//	flowcontrol.go    priority and fairness
//	admission.go      admission webhooks and policies
//	objects.go        the number of objects of each resource
//	errorlog.go       TLS handshake errors, which are recognized in the log of net/http
package metrics
