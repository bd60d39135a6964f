package discovery

import (
	"cmp"
	"reflect"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/version"
)

// describe returns a function that returns the description of a field of t by the field's JSON name, and the description of t
// itself for "". Descriptions come from the type's SwaggerDoc method, or else from undocumented.
func describe(t reflect.Type) func(field string) string {
	var own map[string]string
	if self, ok := reflect.Zero(t).Interface().(documented); ok {
		own = self.SwaggerDoc()
	}
	return func(field string) string { return cmp.Or(own[field], undocumented[t][field]) }
}

// undocumented contains descriptions of types and fields that SwaggerDoc does not describe. The keys of the inner maps are the
// JSON names of fields; the key "" is the type itself.
var undocumented = map[reflect.Type]map[string]string{
	reflect.TypeFor[resource.Quantity](): {"": "A quantity: a decimal number with an optional suffix. The suffixes n, u, m, k, M, G, T, P and E " +
		"are powers of 1000, Ki, Mi, Gi, Ti, Pi and Ei powers of 1024; a decimal exponent such as e3 is supported, too. It may be a " +
		"string or a number, and is stored in canonical form."},
	reflect.TypeFor[intstr.IntOrString](): {"": "An integer or a string, such as a port number or name, or a percentage."},
	reflect.TypeFor[metav1.Time]():        {"": "A time in the format of RFC 3339, with a resolution of seconds."},
	reflect.TypeFor[metav1.MicroTime]():   {"": "A time in the format of RFC 3339, with a resolution of microseconds."},
	reflect.TypeFor[metav1.GroupResource](): {
		"":         "A group and a resource, without a version.",
		"group":    "The API group; empty for the core group.",
		"resource": "The resource, as in request paths.",
	},
	reflect.TypeFor[metav1.WatchEvent]():    {"": "A watch event: its type, and the object after the change."},
	reflect.TypeFor[runtime.RawExtension](): {"": "An object of any kind."},
	reflect.TypeFor[version.Info](): {
		"":                      "The version of the server and its build.",
		"major":                 "the major version of Kubernetes that the server is compatible with",
		"minor":                 "the minor version of Kubernetes that the server is compatible with",
		"emulationMajor":        "the emulated major version",
		"emulationMinor":        "the emulated minor version",
		"minCompatibilityMajor": "the major version of the oldest component that works with the server",
		"minCompatibilityMinor": "the minor version of the oldest component that works with the server",
	},
	reflect.TypeFor[storagev1.VolumeAttachmentSource](): {
		"inlineVolumeSpec": "The attachment information of an inline volume of a pod, as the spec of a PersistentVolume.",
	},
}
