// Package metrics has the Prometheus metrics of the server. Names, labels and buckets are those of kube-apiserver 1.36, so that
// its dashboards and alerts work; metrics that only Cadastre has start with cadastre_.
//
// A server has one [Metrics] with its own Prometheus registry: several servers in a process share only the metrics of the
// process.
//
// # Cost
//
// Looking up a series by its labels hashes all labels and allocates. So a request looks up its [Endpoint], and a watch its
// [Watched], once. A series is created by the first request that it counts: thousands of unused series are not scraped.
//
// # Missing metrics
//
// The server does not have apiserver_current_inqueue_requests and the metrics of priority and fairness, audit and etcd, because
// it does not have these features: a constant 0 would be misleading.
//
// # Where to look
//
//	metrics.go        Metrics: New, Handler, commits, managed fields entries
//	families.go       all metrics with their labels, buckets and help
//	requestlabels.go  the labels of requests: verbs and scopes
//	endpoint.go       requests by labels: codes, durations, sizes, long-running requests
//	watchevents.go    events of watches
//	inflight.go       requests in flight
//	admission.go      webhooks and policies
//	objects.go        numbers of objects
//	errorlog.go       TLS handshake errors, found in the log of net/http
package metrics
