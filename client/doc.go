// Package client has client-go's clients do without managedFields, which may be more than half of an object and
// which most programs throw away.
//
//	config = client.WithoutManagedFields(config)
//	clientset, err := kubernetes.NewForConfig(config)
//
// All clients that are made of the config (typed, dynamic and metadata clients, informers, the caches of
// controller-runtime) say in every Accept header that they can do without (KEP-5958). A server that understands
// sends less. One that does not sends it all, as every released Kubernetes does; then managedFields are taken out
// of what comes back, before it is decoded: in JSON, YAML, CBOR and protobuf, of objects, lists, tables and watches. So
// programs never see them, whatever the server. What a pod, a service or a node answers through the server is not
// touched.
//
// Who needs them for some requests makes the config with [OnRequest]: only requests whose context says so do
// without, see [Drop], and informers whose ListerWatcher is wrapped by [Informer].
//
// An object without managedFields can be updated: the server keeps who owned what. It can't be used to
// extract what a manager applied: [Extract] says so, where client-go returns nothing.
//
// The gate ManagedFieldsOptOutClient, which is on, can be switched off by [SetEnabled] or, as those of client-go,
// by the environment:
//
//	KUBE_FEATURE_ManagedFieldsOptOutClient=false
//
// # Where to look
//
//	config.go     configs, contexts, the gate
//	informer.go   informers
//	extract.go    Extract
//	transport.go  requests that ask for less, and answers that are looked through; accept.go, the header
//	place.go      which addresses are watches, and which answers are somebody else's
//	stream.go     watches, frame by frame
//	shape.go      what an answer is: an object, a list, a table
//	json.go, yaml.go, cbor.go, protobuf.go    take managedFields out of an answer
package client
