// Package leaderelection elects the server that runs the controllers, if several servers share a store: the leader holds a
// Lease, and the other servers wait until the Lease is released or was not renewed for its duration.
//
// # Terms
//
//   - The holder is the identity in the Lease. Leases have the format of client-go, so that kubectl shows the leader.
//   - A record is the content of a Lease. Its expiry is measured with the local clock from the time at which a change
//     of the record was observed, because the clocks of several machines may differ.
//   - A leader that cannot renew the Lease stops leading before another server may regard the Lease as expired.
//
// # Files
//
//	elector.go  acquires, renews and releases the Lease
//	lease.go    reads and writes the Lease
package leaderelection
