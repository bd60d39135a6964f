// Package kinds is the register of kinds: which there are, what they are called, and how they
// merge.
//
// # Vocabulary
//
//   - A [Kind] is one resource type with its versions. It has names: its own (Deployment), that
//     of its collection (deployments), the one for one of them (deployment), short ones.
//   - A subresource is another endpoint of the same object: its status, its scale.
//   - To wipe is to ignore what was sent for a field that can't be written at an endpoint.
//   - To fold is to bring what was written in one of several ways to the way that is stored.
//   - To prepare is to wipe, and to set what the server sets.
//
// # Built-in kinds
//
// They are data: builtin.txt has what they are called, and one text each has what endpoints wipe
// (wipes.txt), what field selectors can ask for (fields.txt), and how writing and deleting differ
// from others (traits.txt). How they merge is in topologies.json.gz, which generate makes of the
// schema that client-go's apply configurations carry; it is read when it is first asked for.
//
// # Where to look
//
//	kind.go        a kind and its names
//	register.go    the kinds that there are now
//	builtin.go     the built-in ones; rows.go reads texts that say something about them
//	topology.go    how they merge
//	versions.go    the versions of a kind, and its engines
//	  event.go       events of both groups
//	  autoscaler.go  autoscalers at v1 and v2; metric.go, their metrics
//	scale.go       the scale of an object, and whose its replicas are
//	wipe.go        what endpoints wipe
//	generation.go  which changes are counted; custom.go, all of this for kinds that are defined
//	uses.go        who writes objects of a kind that may be replaced
//	fold.go        fields that can be written in several ways
//	prepare.go     fields that the server sets
//	  prepareworkload.go, preparesigning.go, preparedevices.go, and preparepod.go with qos.go
//	  preparedisabled.go, fields of features that are off
//	field.go       what field selectors can ask for
//	traits.go      how writing and deleting differ
//	deprecation.go what clients are advised against
//	generate/      makes topologies.json.gz
//	oracle/        what Kubernetes does to objects, for tests: a module of its own
package kinds
