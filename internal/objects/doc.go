// Package objects does what the verbs of the API do to objects: create, update, apply, delete. It
// knows nothing of HTTP.
//
// # How a write goes
//
// All writes go the same way, which write.go shows whole:
//
//  1. The object as it is, from the cache.
//  2. What the verb makes of it, with its owners: the part in which the verbs differ.
//  3. What others make of that: mutating webhooks and policies, if there are any for such a write.
//  4. What the system makes of that: fields that the endpoint wipes come back, metadata that is not
//     the client's to set, defaults. Owners are found out before, so that nobody owns what others or the
//     system set.
//  5. What no other object may have, such as an address, for the kinds that need it. As in Kubernetes
//     clients hear first of what can't be had, and then of what is wrong.
//  6. The kind's rules, and whoever else has a say: validating policies and webhooks come last.
//  7. A commit at the revision that was read in 1; if another was faster, all over again.
//
// What changes nothing stops after 3 or 4: no write, no event, no new time. Those who validate are asked all the same, as
// in Kubernetes: what they say may depend on who asks.
//
// # Versions
//
// An object is stored at one version of its kind, and written at the version of the request: 1 to 3
// are at that of the request, 4 to 7 at the one that is stored.
//
// # Where to look
//
//	objects.go    what it works with
//	endpoint.go   where objects are written: kind, version, subresource; at.go, how they are shown
//	request.go    who wants what; body.go, what was sent; entries.go, what was sent as managedFields
//	write.go      the way of all writes
//	  create.go, update.go, apply.go, patch.go   what the verbs make of an object
//	  lastapplied.go   kubectl's own way to apply, and those who come from it
//	  scale.go      writes that go through a scale
//	  finish.go     what the system makes of it; namespace.go, whether there is a place for it
//	  admission.go  those who are asked about a write; question.go, what they are asked; reader.go, what they make of objects
//	  review.go     questions that are asked and not stored
//	  devices.go    who may have devices, and who may say so
//	  references.go what becomes of owner references that occur twice
//	  extra.go      what some kinds get that depends on other objects
//	  conflict.go   what appliers are told about conflicts; sibling.go, about what excludes what they applied
//	touch.go      what the server itself writes
//	values.go     what is known about values; kinds that are defined bring their own
//	delete.go     deletions, of one and of many; mark.go, what objects wait for before they go
//	commit.go     commits are counted; json.go, what they write
//	errors.go     what clients are told when the store refuses; invalid.go, when an object breaks rules
package objects
