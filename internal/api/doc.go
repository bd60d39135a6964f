// Package api defines the resources that the server serves: their names, versions, subresources, merge topologies and
// write strategies.
//
// # Vocabulary
//
//   - A [Kind] is one resource type with all its versions. Its names are the kind (Deployment), the plural, which is the
//     resource in request paths (deployments), the singular (deployment), and short names (deploy).
//   - A subresource is another endpoint of the same object, such as its status or scale. The main endpoint is the
//     object itself.
//   - Reset fields are the fields that an endpoint ignores.
//   - To normalize an object is to convert fields that have more than one representation to the stored representation.
//   - To prepare an object is to restore its reset fields from the live object and to set the fields that the server sets.
//
// # Built-in kinds
//
// A built-in kind is declared by a kind file (builtin/kinds), which names the steps of its strategy that are Go code.
// Its topology is in topologies.json.gz, which generate builds from the schema of client-go's apply configurations, and
// which is read on first use.
//
// # Where to look
//
//	kind.go        a kind and its names
//	register.go    the kinds that are served at present
//	builtin.go     the built-in kinds, from the properties of their files
//	topology.go    merge topologies of built-in kinds
//	versions.go    the versions of a kind, and its apply engines
//	  event.go       conversion of events between their groups
//	  autoscaler.go  conversion of autoscalers between v1 and v2; metric.go, their metrics
//	scale.go       the scale subresource, and the ownership of replicas
//	resetfields.go       reset fields
//	selectablefields.go  selectable fields
//	traits.go      per-kind variations of update and delete
//	deprecation.go deprecated versions
//	generation.go  metadata.generation; custom.go, reset fields and generation of custom resources
//	writegate.go   drains the writers of a kind that is replaced
//	normalize.go   fields with more than one representation
//	strategy.go    the steps of strategies, and Prepare
//	  strategyworkload.go, strategysigning.go, strategydevices.go, strategypod.go  the steps of single kinds
//	  disabledfields.go    removes fields whose feature gates are off
//	generate/      builds topologies.json.gz
//	qos/           the quality of service class of pods
package api
