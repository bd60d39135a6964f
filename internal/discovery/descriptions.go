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

// describe returns a function that tells what there is to read about a Go type, or about a field of
// it by its name in JSON. Most types carry that with them.
func describe(t reflect.Type) func(field string) string {
	var own map[string]string
	if self, ok := reflect.Zero(t).Interface().(documented); ok {
		own = self.SwaggerDoc()
	}
	return func(field string) string { return cmp.Or(own[field], undocumented[t][field]) }
}

// undocumented are descriptions of what carries none of its own.
var undocumented = map[reflect.Type]map[string]string{
	reflect.TypeFor[resource.Quantity](): {"": "An amount: a decimal number with an optional suffix. The suffixes n, u, m, k, M, G, T, P and E " +
		"are powers of 1000, Ki, Mi, Gi, Ti, Pi and Ei powers of 1024; an exponent such as e3 is possible too. It may be written as a " +
		"string or as a number, and is kept in a form in which equal amounts are equal texts."},
	reflect.TypeFor[intstr.IntOrString]():   {"": "A number or a text, such as a port's number or name, or a percentage."},
	reflect.TypeFor[metav1.Time]():          {"": "A moment in the form of RFC 3339, to the second."},
	reflect.TypeFor[metav1.MicroTime]():     {"": "A moment in the form of RFC 3339, to the microsecond."},
	reflect.TypeFor[metav1.GroupResource](): {"": "A group and a resource, without a version."},
	reflect.TypeFor[metav1.WatchEvent]():    {"": "One change in a watch: what happened, and the object after it."},
	reflect.TypeFor[runtime.RawExtension](): {"": "An object of any kind."},
	reflect.TypeFor[version.Info](): {
		"":                      "Which version of the server this is, and how it was built.",
		"major":                 "the major version of Kubernetes that the server behaves like",
		"minor":                 "the minor version of Kubernetes that the server behaves like",
		"emulationMajor":        "the major version of the behaviour that was asked for",
		"emulationMinor":        "the minor version of the behaviour that was asked for",
		"minCompatibilityMajor": "the major version of the oldest component that works with the server",
		"minCompatibilityMinor": "the minor version of the oldest component that works with the server",
	},
	reflect.TypeFor[storagev1.VolumeAttachmentSource](): {
		"inlineVolumeSpec": "What is needed to attach a volume that a pod declares itself, in the form of a PersistentVolume's spec.",
	},
}
