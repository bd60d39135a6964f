// Package metrics counts what the server does, for Prometheus. Names, labels and buckets are those
// of kube-apiserver 1.36, so that dashboards and alerts made for it work; what only Cadastre has
// begins with cadastre_.
//
// A server has one [Metrics] with a registry of its own: many servers in a process do not see each
// other's numbers, but for those about the process.
//
// # Cost
//
// Finding a series by its labels costs a hash of them all, and garbage. So labels are looked up
// once: the server asks for an [Endpoint] where it makes a route, or by its [Request] at any time,
// for a [Watched] where a watch begins, and then counts on that. A series is made by the first
// request that it counts, so that nobody scrapes the thousands which never had one.
//
// # What is left out
//
// Kubernetes also has apiserver_current_inqueue_requests and the metrics of its queues, of
// audit and of etcd: there is no such thing here, and a constant 0 would say that
// there is.
//
// # Where to look
//
//	metrics.go   Metrics: New, Handler, what counts once a server
//	family.go    every name with its labels, buckets and help
//	request.go   what kind of request it is: verbs and scopes
//	endpoint.go  requests of one kind: codes, times, sizes, those that go on
//	watch.go     events that watches sent
//	inflight.go  how many requests are at work at once
//	admission.go webhooks and policies that were asked
//	objects.go   how many objects there are
//	errorlog.go  handshakes that failed, found in what net/http logs
package metrics
