// Package apply is the engine of Server-Side Apply: pure functions from a live
// object and a request to a new object. It does no I/O and keeps no objects.
//
// # Vocabulary
//
//   - A manager is a named writer. An [Entry] records which fields one manager owns,
//     by which operation, at which version, at which endpoint, since when.
//   - An applier is a manager that applies. What it sends is its configuration: the
//     fields that it has an opinion about, and no others.
//   - Owners of a field are all whose entry has it; they share it.
//   - A conflict is a field that an applier would change and that others own. To
//     force is to take such fields over.
//   - An unset marker, {k8s_io__value: unset}, says in a configuration: I own this
//     field, and it must be absent.
//   - Reset fields are those that an endpoint wipes; nobody gets to own them there.
//
// # The two operations
//
// [Engine.Apply] merges a configuration into the live document, removes what its
// applier owned and no longer applies, and makes the applier the owner of exactly
// what it applies. [Engine.Update] is for every other kind of write, done already:
// it compares the object before and after, and makes the writer the owner of what
// it changed. Either returns the new object and says what changed; a no-op returns
// the live object itself. [Engine.Extract] gives an applier back what it owns, and
// [Reconcile] fits what was owned to a topology that changed.
//
// # How it is arranged
//
//	engine.go      the front door: Options, Result; Apply and Update, whole
//	request.go     who writes, and how; what is refused whatever the kind is
//	object.go      an object as bytes: managedFields taken out and put back
//	entry.go       entries, who is the same manager, who comes first
//	versions.go    the versions of a kind, and documents at them
//	intent.go      what a configuration wants: merged document and fields
//	  validate.go    does it fit the topology?
//	  unset.go       its markers
//	  own.go         the fields that it sets
//	  merge.go       live document and configuration together; zip.go for lists
//	  walk.go        all of these in one walk; walkitems.go for lists
//	owners.go      the entries during an operation: who has what, loses what, gets what
//	  reconcile.go   sets that are older than the topology; memo.go, those that are not
//	  ancient.go     the oldest entries, joined
//	prune.go       what an applier no longer applies, by sets; prunewalk.go in one walk
//	compare.go     what changed between two documents; comparelists.go for lists
//	  changesat.go   at each version
//	conflict.go    who minds
//	extract.go     what an applier owns, as a configuration
//
// What these share: shape.go, how a value is taken apart; items.go, how the items of
// a list are told apart, and selected.go, those that a set is about; named.go, declared
// fields in sets; edit.go, containers of which a part is replaced; remove.go, documents
// without some of their fields;
// errors.go and describe.go, what is told to people.
//
// # Plain and fast
//
// Everything that is done fast is also done plainly, one thing after the other, in
// terms of documents and sets; [Options].Plain turns the fast ways off. Tests compare
// both with each other and with structured-merge-diff on random histories. The fast
// ways rest on these facts:
//
//   - Merging, pruning and removing share with the live document what they leave
//     alone, so that finding out what changed looks only where something did.
//   - What an applier owns is written as FieldsV1 while its configuration is walked.
//     If that is the text that its entry has, it owns what it owned, and has given
//     nothing up.
//   - Another owner minds a change only if its FieldsV1 has a changed field;
//     that shows in the text, so that most sets are never read.
//   - The same texts come again with nearly every request; those that are known to
//     fit the topology of today need not be read to know it again.
package apply
