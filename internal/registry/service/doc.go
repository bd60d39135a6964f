// Package service is the registry strategy of Services: it allocates cluster IPs and node ports.
//
// A reservation is an object that names the service of a cluster IP or node port. It is committed in one transaction with the
// service, with compare-and-swap: of two services that request the same address one is rejected, or allocates another. Dynamic
// allocation picks a random address from the upper band of the range; the lower band is reserved for addresses that clients
// choose, and used when the upper one is full, as in Kubernetes.
//
// Reservations of cluster IPs are IPAddress objects, as in Kubernetes. Those of node ports are internal and not served.
//
// # Where to look
//
//	strategy.go     the strategy: allocation and release
//	prepare.go      fields that an update retains
//	families.go     IP families
//	ports.go        node ports
//	reservation.go  reservations
//	range.go        dynamic allocation from a range
package service
