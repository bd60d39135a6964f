// Package leaderelection has one of several servers that share a store do what only one may: it holds a Lease,
// and all others wait until it is given back or has not been renewed for its duration.
//
// # Vocabulary
//
//   - The holder is who has its name in the lease. Leases are read and written as client-go does, so that
//     kubectl shows who leads, and since when.
//   - A record is what a lease says. Whether it is over is measured by one's own clock, from when one saw
//     it change: clocks of several machines may differ.
//   - To lead is to do what only the holder may. Who can't renew the lease stops leading well before it is
//     over for the others.
//
// # Where to look
//
//	elector.go  acquires, renews, gives back
//	lease.go    the lease as an object
package leaderelection
