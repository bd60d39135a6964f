// Package admissiontest runs one admission plugin without a server, in unit tests.
//
// # Cases
//
// A [Case] is one write, the other objects that the server stores, and the answer of kube-apiserver's plugin of the same
// name. Cases are written in testdata/*.txt of a plugin's folder, separated by empty lines:
//
//	# Lines that start with # are comments.
//	case: a toleration is kept
//	operation: CREATE
//	resource: pods
//	stored: {kind: Namespace, metadata: {name: ns}}
//	object: {spec: {tolerations: [{operator: Exists}]}}
//	old: {spec: {}}
//	admitted: {"spec":{}}
//	error: 403 Forbidden: text
//
// The operation is CREATE if that line is left out. The resource is RESOURCE or RESOURCE.GROUP, followed by /SUBRESOURCE for
// a subresource. The line stored may be repeated. Objects are YAML; a line that starts with a space continues the line
// before it. The apiVersion and kind of object and old follow from the resource, the apiVersion of stored objects follows
// from their kind; the name is x and the namespace is ns unless the object states them.
//
// The last two lines are the answer of kube-apiserver's plugin, which make oracle-admission ORACLE=-update records. admitted
// is the object after the plugin, without empty fields, if the plugin changed it. error is the code, reason and message of
// the API status, followed by its causes, if the plugin rejected the write. [Replay] compares recorded answers with those of
// our plugin.
//
// # Where to look
//
//	attributes.go  Attributes of writes in tests
//	reader.go      a Reader of objects in memory
//	cases.go       the format of cases
//	run.go         running a plugin
package admissiontest
