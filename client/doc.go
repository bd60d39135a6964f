// Package client configures clients of client-go to receive objects without managedFields, which most programs ignore and
// which may be more than half of an object.
//
//	config = client.WithoutManagedFields(config)
//	clientset, err := kubernetes.NewForConfig(config)
//
// example_test.go runs this code against a server.
//
// All clients of the config (typed, dynamic and metadata clients, informers, the caches of controller-runtime) request
// responses without managedFields (KEP-5958). Servers that support such requests omit managedFields. From the responses of
// other servers, such as all released versions of Kubernetes, the client removes managedFields before decoding: in every
// encoding of the API, from objects, lists, tables and watch events. Responses that are proxied from a pod, service or node
// are not modified.
//
// Programs that need managedFields in some responses use [OptOutOnRequest]: then only requests with a context of [OptOut],
// and informers with a ListerWatcher of [OptOutListerWatcher], receive none.
//
// An object that was read without managedFields can be updated, because the server preserves the managed fields entries if
// an update contains none. It cannot be used to extract the apply configuration of a field manager; for that, [Extract]
// returns an error where the functions of client-go return an empty configuration.
//
// [Unset] adds unset markers (KEP-5051) to the apply configurations of client-go, which have no means of their own to declare
// that a field must be absent.
//
// The feature gate ManagedFieldsOptOutClient, which is enabled by default, controls this package. [SetEnabled] or an
// environment variable disables it:
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
//	config.go     WithoutManagedFields, OptOutOnRequest, OptOut, and the feature gate
//	informer.go   OptOutListerWatcher
//	extract.go    Extract; extractabsent.go: fields whose absence the field manager owns
//	unset.go      Unset
//	transport.go  the http.RoundTripper that changes requests and responses
//	accept.go     the parameter drop of the Accept header
//	url.go        detection of watches and proxied requests by their URL
//	stream.go     the body of a watch, read event by event
//	shape.go      detection of the shape of a response: an object, a list or a table
//	encodings.go  the list of encodings
//	json.go, yaml.go, cbor.go, protobuf.go    removal of managedFields from a response, for one encoding each
