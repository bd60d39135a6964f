// Package garbagecollector deletes objects whose owners are gone, and has owners wait for their dependants, as the
// garbage collector of Kubernetes does.
//
// # Vocabulary
//
//   - A dependant is an object with owner references; those that they name are its owners. An owner
//     is named by kind, name and uid, and is in the namespace of the dependant, or in none.
//   - A reference dangles if there is no such owner. It is waiting if the owner waits for its
//     dependants, and solid otherwise.
//   - An owner that is deleted in the foreground waits until nothing blocks it: no dependant is left
//     whose reference has blockOwnerDeletion.
//   - An owner that is deleted as orphaning waits until no dependant names it any more.
//   - To judge an object is to find out what is to be done with it, and to do that.
//
// # How it goes
//
// The [Collector] observes the cache. It keeps an index of who depends on which uid, and judges objects
// when something happens that may matter to them: a dependant comes or has other references; an owner
// goes, or begins to wait; an owner that waits is no longer blocked. Objects without owners cost a look at
// two numbers. A judgement is made from what the cache has at that time, and is carried out only if the
// references are still the same then.
//
// What it knows is what the objects say, so that a server that is started again, or takes over from
// another, judges all dependants once and goes on.
//
// A dependant that has an owner of a kind that is not served is left alone until it is: the owner may
// exist. References across namespaces dangle; an event tells of them. An object of no namespace can't have
// an owner in one, and is left alone for good.
//
// # Where to look
//
//	collector.go  what is seen and what is done about it
//	index.go      who depends on whom
//	reference.go  owner references
//	judge.go      what is to be done with an object
//	write.go      how objects are changed: references and finalizers that go
//	event.go      what users are told
package garbagecollector
