// Package service gives services their addresses and ports, so that no two have the same.
//
// # Vocabulary
//
//   - An address is a service's cluster IP; a port is one that nodes open for it.
//   - A reservation says whose an address or port is. It is written in the same commit as the service
//     that has it, and at the revision that was read: of two services that want the same, one is
//     refused, or draws another.
//   - To draw is to take a free one at random, from the upper part of the range first: the lower
//     part is for those who ask for a certain one.
//
// Reservations of addresses are objects of kind IPAddress, as in Kubernetes. Those of ports are
// kept beside all kinds, and not served.
//
// # Where to look
//
//	addresses.go    what a service gets, whole
//	keep.go         what an update leaves out
//	families.go     families of addresses
//	ports.go        ports
//	reservation.go  reservations
//	draw.go         drawing
package service
