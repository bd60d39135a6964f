// Package client configures clients of client-go to receive no managedFields, which may be more than half of an object
// and which most programs ignore.
//
//	config = client.WithoutManagedFields(config)
//	clientset, err := kubernetes.NewForConfig(config)
//
// example_test.go runs this against a server.
//
// All clients of the config (typed, dynamic and metadata clients, informers, the caches of controller-runtime) request
// responses without managedFields (KEP-5958). A server that supports the request sends less. From the responses of
// other servers, such as every released Kubernetes, the client removes managedFields before decoding: in every encoding
// of the API, from objects, lists, tables and watches. Responses that are proxied from a pod, service or node are not
// modified.
//
// Programs that need managedFields for some requests use [OptOutOnRequest]: only requests with a context of [OptOut], and
// informers with a ListerWatcher of [OptOutListerWatcher], get none.
//
// An object without managedFields can be updated: the server keeps the managed fields entries. It can't be used to
// extract the apply configuration of a field manager; [Extract] reports an error where client-go returns an empty
// configuration.
//
// The feature gate ManagedFieldsOptOutClient is enabled by default. [SetEnabled] or the environment disables it:
//
//	KUBE_FEATURE_ManagedFieldsOptOutClient=false
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/client.txt. The feature gate will be
// removed when KEP-5958 is stable.
//
// Concurrency: all functions are safe for concurrent use. Configs are copied, not modified.
package client

// Files:
//
//	config.go     configs, contexts, the feature gate
//	informer.go   informers
//	extract.go    Extract
//	transport.go  requests and responses; accept.go has the Accept header
//	url.go        classification of URLs: watches, proxied requests
//	stream.go     watches, frame by frame
//	shape.go      the shape of a response: an object, a list, a table
//	encodings.go  the encodings
//	json.go, yaml.go, cbor.go, protobuf.go    removing managedFields from a response, one encoding each
