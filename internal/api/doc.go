// Package api is the register of resources: the kinds that are served, their names, versions and subresources, how they
// merge, and the strategies of their writes.
//
// # Vocabulary
//
//   - A [Kind] is one resource type with its versions. It has a kind (Deployment), a plural, which is the resource
//     (deployments), a singular (deployment), and short names.
//   - A subresource is another endpoint of the same object: its status, its scale. The main endpoint is the object itself.
//   - Reset fields are those that an endpoint ignores.
//   - To normalize is to bring fields that have more than one representation to the stored one.
//   - To prepare is to restore reset fields, and to set the fields that the server sets.
//
// # Built-in kinds
//
// A kind is a file of package kinds (builtin/kinds), which names the steps of its strategy that are Go code. Its topology is
// in topologies.json.gz, which generate makes from the schema of client-go's apply configurations; it is read when it is
// first needed.
//
// # Where to look
//
//	kind.go        a kind and its names
//	register.go    the kinds that are served now
//	builtin.go     the built-in kinds, from the properties of their files
//	topology.go    how they merge
//	versions.go    the versions of a kind, and its apply engines
//	  event.go       conversion of events between their groups
//	  autoscaler.go  conversion of autoscalers between v1 and v2; metric.go, their metrics
//	scale.go       the scale of an object, and the ownership of its replicas
//	resetfields.go       reset fields
//	selectablefields.go  selectable fields
//	traits.go      how writing and deleting differs between kinds
//	deprecation.go deprecated versions
//	generation.go  metadata.generation; custom.go, reset fields and generation of custom resources
//	uses.go        counts the writers of a kind that may be replaced
//	normalize.go   fields with more than one representation
//	strategy.go    the steps of strategies, and Prepare
//	  strategyworkload.go, strategysigning.go, strategydevices.go, and strategypod.go with qos.go
//	  disabledfields.go, fields of features that are off
//	generate/      makes topologies.json.gz
//	oracle/        runs Kubernetes' strategies, for tests: a module of its own
package api
