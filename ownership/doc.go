// Package ownership answers questions about who owns which field of an object, and changes the answers.
//
// All of it is pure functions on an [apply.Object], as any Kubernetes API server answers it. What changes
// owners changes nothing else: values stay as they are. The result is new entries, which [Patch] makes a
// JSON patch of that any server takes.
//
// # Vocabulary
//
//   - An owner of a field is an entry whose field set has it. Owners share it.
//   - To release a field is to stop owning it. To transfer it is to release it and have somebody else own
//     it. To migrate is to transfer all that clients wrote by Update to the manager that they apply as.
//   - To blame is to tell the owners of every line of an object.
//   - A written path is how people write where a field is: spec.containers[name=app].image. Which path is
//     meant is decided by what an object has.
//
// # What holds
//
//	a change that changes nothing says so, and doing any change again changes nothing
//	no field gets lost on the way from one owner to another, unless the object does not have it at the version of
//	the new one, which [Move] tells then
//	what is not about the named managers and fields stays as it is, to the byte
//
// # Where to look
//
//	migrate.go     from client-side to server-side apply
//	takeover.go    the same as kubectl does it, which keeps the way back
//	transfer.go    release and transfer
//	move.go        what these have in common: some entries give fields up, one gets them
//	selector.go    which entries are meant
//	patch.go       new entries as a JSON patch
//	blame.go       the owners of every line; lines.go is how the lines are made, elsewhere.go what is at other versions
//	extract.go     the configuration that a manager effectively applies
//	plan.go        what a write does to values and owners
//	writtenpath.go paths as people write them; resolve.go is what they mean in an object
//	unset.go       unset markers where a written path leads to
//	atversion.go   which fields of another version an object has
//	value.go       values by path, told apart by path elements alone, and what of them is owned
package ownership
