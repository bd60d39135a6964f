// Package custom has kinds served that users define: CustomResourceDefinitions, and the objects of the kinds that these
// define.
//
// # Vocabulary
//
//   - A definition is a CustomResourceDefinition. It is established when its kind is served.
//   - A kind is closed when its definition has been deleted: its objects go, and no new ones come.
//   - Objects evolve: they are stored at one version, as the schema of the moment has them, and shown as the schema of
//     today has them, at any version that is served.
//   - A former definition is what a definition was before its schema changed. All that is kept of that is its past.
//   - To bring an entry over is to have it own the same fields by a definition as it did by a former one. It is in arrears if that
//     could not be done yet.
//
// # How a kind is served
//
// The [Controller] follows definitions in the cache. It gives a definition the names that nobody else in its group has,
// makes a kind of it, puts that into the register, and only then writes that it is established: whoever reads that
// finds the kind in discovery, in OpenAPI and at its paths. What a definition says is read without its schemas; a
// schema is compiled when somebody first needs it.
//
// A definition that changes makes another kind, which takes the place of the one before. Writers may be busy with the
// old one: they finish, and from then on (see since) everything that is written is as the new one has it. Objects from
// before are read, pruned, defaulted and converted when they are first shown, and the result is kept as a form in
// the cache. An object that is stored otherwise than it would be today is written even if a request changes nothing:
// that is how objects are brought to another version.
//
// A definition that is deleted gets a finalizer. Its kind is closed, its objects are deleted, and when the last is
// gone, which may take somebody else's finalizers, the definition goes, and with it the kind. Watches end when a kind
// is replaced or gone. Nothing is remembered but what definitions say, and their past for as long as owners are brought
// over, so that a server that is started again goes on.
//
// # Conversion
//
// Only whole objects are converted: by their apiVersion alone, or by a webhook, which may change everything but the
// metadata; of that only labels and annotations. Requests are merged, defaulted and validated at their own version. If a
// webhook fails, the request fails with what it said, and nothing is changed: also managedFields stay.
//
// # Where to look
//
//	kind.go              the kind of definitions; definitionvalues.go, which values they have
//	reading.go           what a definition says
//	controller.go        follows definitions; serve.go puts kinds into the register; remove.go deletes objects
//	names.go             who gets which names; status.go, what definitions tell; conditions.go
//	definition.go        what a kind was made of: its versions, and objects at them
//	values.go            the values of custom resources, as endpoints want them
//	conversion.go        objects at other versions; webhook.go, by a webhook; conversionreview.go, how that is asked
//	owners.go            who owns what after the schema has changed; retired.go, after a version is gone
//	  catchup.go           when owners are brought over, and who waits for it; bringer.go does it; way.go, from which definition
//	                       to which
//	  former.go            what is kept of what definitions were before; arrears.go, of what could not be brought over yet
//	openapi.go           what OpenAPI tells about a kind
package custom
