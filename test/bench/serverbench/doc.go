// Package serverbench puts the same load on our server, on kube-apiserver with etcd, and on the floor: the
// least Go HTTPS server that moves the same bytes. All run in processes of their own; clients speak HTTP/2
// over TLS, each on a connection of its own, with bodies and answers in JSON, unless a wish says otherwise.
//
//	server.go        a server as the load sees it: address, trust, processes, what they use
//	ours.go          our server, built and started
//	peer.go          kube-apiserver and etcd
//	contender.go     which sides take part, and those that run
//	floor.go         the floor as a process; floorhandler.go, what it does; certificate.go, its certificate
//	client.go        one connection and what is sent over it
//	object.go        the Deployment that all is about, and requests about it
//	options.go       what commands are told
//	load.go          clients at work, and the window in which they are measured
//	case.go          what is measured: get, list, apply, create, update
//	watch.go         what watchers cost; begin.go, a watch that begins; frame.go, where events end
//	custom.go        a custom kind, and what is done to its objects; definitions.go, many kinds
//	beside.go        a watch on one kind beside work on another
//	managed.go       objects with several managers; wish.go, how clients want them
//	share.go         how much of an answer is managedFields
//	allocated.go     what a server takes from its heap
//	clientcost.go    what client-go takes from its
//	fleet.go         starting, memory, and many objects
//
// A binary that starts the floor calls ServeIfFloor first: the floor is that binary once more.
//
// CPU times and memory are read by package proc: the package builds anywhere and runs on Linux.
package serverbench
