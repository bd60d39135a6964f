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
// # One-ofs
//
// Of some fields only one may be there, such as the sources of a volume. Those that several managers can
// write together are in oneofs.txt, in the form of defaults.txt. Below the names of types are
//
//	NAME NAME…                    of these fields only one may be there
//	all but [NAME…]               of all but these
//	by FIELD VALUE=NAME…          each is there only if FIELD has this value
//
// [OneOfs.Clashes] finds those that an applier and others have filled twice.
//
// # Validation
//
// [Type.Validate] finds what is wrong with an object, as kube-apiserver words it. The rules are in
// validation/*.txt. A line without indent starts a block: the rules of a kind (which is in
// namespaces, or in the cluster, or a question that is answered and not stored), those of writes to
// the status of a kind, for [Type.ValidateStatus], or those of a type that kinds use, under a name of
// its own. The indented lines below it are followed in their order,
// which is that of kube-apiserver's errors.
//
//	PATH [@PATH] CHECK [ARGUMENT…] [; CHECK [ARGUMENT…]]…
//	if CONDITION
//	    …
//	else
//	    …
//
// PATH starts at what the block is about: spec.ports[].name is the name of every port, data{} is
// every value of a map, a dot alone is the whole. Errors are reported there, or at the place after
// the at sign, where ../ is the place around the block: some places of kube-apiserver are not
// where the fields are. Checks are made from left to right; some stop the line. The commonest:
//
//	required ["DETAIL"]      it must not be empty; if it is, the line ends
//	set ["DETAIL"]           it must be there, even if it is empty; if it is not, the line ends
//	optional, nullable       the line ends if it is empty, or not there
//	changed                  the line ends if it is what it was
//	enum TEXT…               it is one of these
//	value TEXT… "DETAIL"     the same, with other words
//	min N, max N, range N M  a number within bounds; ["DETAIL"] may follow
//	dns-label, …             a format: see formats.go
//	key FORMAT               how the key of a map is written
//	unique                   no item before this one has the same
//	alone TEXT "DETAIL"      a list with this text has no other
//	union MORE NONE F:TYPE…  exactly one of these fields is there
//	items MOST TYPE [KEY]    a list of so many items of a type at most, no two with the same key
//	forbidden, invalid       it must not be there: "DETAIL" says why; refused and wrong say the
//	                         same whether it is there or not, which is for conditions
//	immutable ["DETAIL"]     it must be what it was; frozen says so with another error
//	object-meta FORMAT       metadata of a new object, whose name has this format; always: of any
//	TYPE                     all rules of the block of that name
//
// Conditions are creating, updating, respecified (the object is new, or has a new generation),
// within TYPE (a block that is being followed around this one), or [old] PATH TEST, where TEST is
// is TEXT…, not TEXT…, set, unset, empty, nonempty or readable (of a selector), and a PATH may
// start at a block around this one: PodSpec.hostUsers.
// What can not be said so is a function that irregular.go names.
//
// Objects in testdata/validation/objects are spoiled in every field by oracle-validation, and as
// changes.txt says, and it asks kube-apiserver's own code about them. Tests replay its answers: we
// may never refuse what it accepts. Errors that we do not find are listed in gaps.txt, with the
// reason; there may be no others. The same is done to the statuses of the objects in
// testdata/validation/statuses.
//
// # Warnings
//
// [Type.Warnings] finds what clients should know about an object that is right. What that is stands in
// validation/warnings.txt, in the same language: warnings and status-warnings start the blocks of a kind, and
// sent-warnings those about what was sent, though the rest of it may be wrong. The
// checks there find nothing wrong, but say something: warn with the place before it, say without, warn-key about
// a key of a map. Where there is nothing to say, they cost little. The oracle compares these too, with the objects
// in testdata/validation/warned and all others, word by word.
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
//	default.go    defaulting: the walk; empty.go, what Go writes for nothing
//	keep.go       what clients drop without knowing it
//	emptied.go    what a patch left nothing in
//	rule.go       rules, and how they are followed
//	subject.go    a struct while they are
//	ruletext.go   the language of defaults.txt
//	steps.go      steps that need code
//	oneof.go      fields of which only one may be there
//	podlevel.go   resources of a pod as a whole, which depend on those of its containers
//
//	validate.go   Validate, and what it keeps while it runs
//	checktext.go  how rules of validation/*.txt are read; premise.go reads conditions
//	block.go      how they are followed
//	checks.go     the checks that rules name; makers.go has those about several fields
//	formats.go    how texts are written; scalars.go has what is no plain text
//	lists.go      those about lists of texts, and about texts in which spaces do not count
//	irregular.go  the checks that are code, by name
//	  metadata.go, selectors.go, resources.go, limits.go, quotas.go, configdata.go, events.go, nodes.go
//	  services.go, endpoints.go, networks.go, cidrs.go
//	  pods.go, podsystem.go, podupdate.go, podannotations.go, containers.go, workloads.go, jobs.go, autoscalers.go
//	  volumes.go has claims and persistent volumes, sources.go what is in volumes of some kinds
//	  storage.go has the group of that name, classes.go what is neither stored nor run
//	  webhooks.go and policies.go have admission, expressions.go what is compiled there, flows.go flow control, signing.go certificates
//	  devices.go has claims of devices and their status, slices.go the devices that there are, capacities.go what they have,
//	  and semver.go how their versions are written
//	statuses.go   the checks that are code and that only statuses need
//	  podstatus.go, jobstatus.go, and signed.go, which has certificates
//	warnings.go   Warnings, and the checks that they name
//	  podwarnings.go has those about pods, portwarnings.go those about the ports of their containers, pathwarnings.go
//	  those about the files of their volumes; labelwarnings.go, addresswarnings.go; kindwarnings.go, those of one kind each
//	sameness.go   what counts as a change
//	shown.go      values in errors
package rules
