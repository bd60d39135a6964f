package catalog

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/version"
)

// descriptions are for the types that carry none of their own.
var descriptions = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity](): "An amount: a decimal number with an optional suffix. The suffixes n, u, m, k, M, G, T, P and E are powers of 1000, " +
		"Ki, Mi, Gi, Ti, Pi and Ei powers of 1024; an exponent such as e3 is possible too. It may be written as a string or as a number; " +
		"it is kept in a form in which equal amounts are equal texts.",
	reflect.TypeFor[intstr.IntOrString]():   "A number or a text, such as a port's number or name, or a percentage.",
	reflect.TypeFor[metav1.Time]():          "A moment in the form of RFC 3339, to the second.",
	reflect.TypeFor[metav1.MicroTime]():     "A moment in the form of RFC 3339, to the microsecond.",
	reflect.TypeFor[metav1.FieldsV1]():      "A set of fields as a tree: f:NAME is a field, k:KEYS an item of a list by its keys, v:VALUE an item by its value, i:INDEX one by its position; a dot is the field itself.",
	reflect.TypeFor[metav1.Patch]():         "A patch, in the form that the content type of the request names.",
	reflect.TypeFor[metav1.WatchEvent]():    "One change in a watch: what happened, and the object after it.",
	reflect.TypeFor[runtime.RawExtension](): "An object of any kind.",
	reflect.TypeFor[version.Info]():         "Which version of the server this is, and how it was built.",
	reflect.TypeFor[metav1.GroupResource](): "A group and a resource, without a version.",
	reflect.TypeFor[metav1.ShardInfo]():     "Which shard of a list this is.",
}
