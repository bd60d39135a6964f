// Package rules knows the values of the built-in kinds beyond how they merge: which fields there
// are, of which type, and what they are if nobody says.
//
// kube-apiserver decodes a request into Go structs. That drops fields that are unknown and nulls,
// refuses values of the wrong type, and spells quantities and times anew; then defaults are set, and
// when the structs are written, some fields are there although nothing is in them. We keep
// documents, and do the same to them from data.
//
// # Vocabulary
//
//   - A [Type] is a Go type as JSON shows it. A struct has a name, the one that it has in schemas:
//     io.k8s.api.core.v1.Pod. Its fields include those of the structs that are embedded in it.
//   - A field is always written if Go writes it although there is nothing in it: {} for a struct,
//     null for a list, a map or a pointer, 0, "" or false for the rest.
//   - A field is unset if Go would see nothing in it: it is absent or null; or a scalar that is no
//     pointer, and zero; or a list or map without anything in it.
//   - Reading ([Type.Read]) is what decoding does to a document. Defaulting ([Type.Default]) is what
//     comes after it.
//
// # Types
//
// They are in types.txt.gz, which generate makes of k8s.io/api. The table is read when it is first
// asked for. It starts at the built-in kinds, and has what is sent to subresources as well: Scale,
// Eviction, TokenRequest, DeleteOptions.
//
// # Defaults
//
// They are in defaults.txt. A line without indent names a type (core.v1.Pod is short for
// io.k8s.api.core.v1.Pod), or several; the indented lines below it are its rules, in the order in
// which they are followed. The rules of a struct come before those of the structs in it.
//
//	TARGET = VALUE [when CONDITION [and CONDITION…]]    give it a value if it is unset
//	TARGET := VALUE [when …]                            give it a value whatever it has
//	TARGET += from SOURCE [when …]                      add the keys that a map lacks from another
//	TARGET drop [when …]                                remove it
//	TARGET rounded                                      round a map's quantities up to thousandths
//	do NAME                                             a step that needs code; see steps.go
//
// TARGET and SOURCE are paths of field names with dots between, in a struct of the type. A name
// with dots is quoted. A name that ends with [] stands for each item of the list. A path that
// starts with a dot starts at the struct that TARGET's last name is in, so that .ip is the
// neighbour of ports[].port. A target is left alone if it is in a struct that is not there, unless
// Go has that struct always.
//
// VALUE is JSON, or from SOURCE (nothing happens if that is unset), or now. Conditions are
//
//	PATH is set          and its opposite, is unset
//	PATH is absent       there is nothing at all, not even an empty list
//	PATH is A|B|…        it is one of these strings, numbers or booleans
//	PATH is latest       it is an image whose tag is latest, or that has neither tag nor digest
//	only NAME            no other field is there
//
// Where nothing else is said, what upstream does when it converts between versions and its
// internal form is a default too: a pod's serviceAccount follows serviceAccountName, a Secret's
// stringData is moved to data.
//
// # Invariants
//
//   - Reading or defaulting again what was read or defaulted changes nothing.
//   - Where there is nothing to do the same Value comes back, and nothing is allocated.
//   - {}, [] and zeros that the client sent stay, although Go would drop them. Upstream makes the
//     same of such a document as of the one without them.
//   - A sealed part is left as it is.
//
// # Where to look
//
//	type.go       types and their fields
//	table.go      the table of them; generate/ makes it
//	read.go       decoding
//	scalar.go     decoding what is neither struct, list nor map
//	image.go      the tags of images
//	error.go      what is wrong with a value
//	default.go    defaulting: the walk
//	rule.go       rules, and how they are followed
//	subject.go    a struct while they are
//	ruletext.go   the language of defaults.txt
//	steps.go      steps that need code
//	podlevel.go   resources of a pod as a whole, which depend on those of its containers
package rules
