// Package service is the registry strategy of Services: it allocates cluster IPs and node ports.
//
// For each allocated cluster IP and node port the store contains a reservation: an object that names the service. It is
// committed by compare-and-swap in one transaction with the service. So if two services request the same address, one of them
// is rejected; if two services allocate the same address dynamically, one of them retries with another address. As in
// Kubernetes, dynamic allocation starts at a random address of the upper band of the range; the lower band is for addresses
// that clients request, and is used for dynamic allocation when the upper band is full.
//
// Reservations of cluster IPs are IPAddress objects, as in Kubernetes. Reservations of node ports are internal objects that the
// API does not serve.
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
