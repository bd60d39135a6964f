// Package admission defines the interface of admission plugins, which are Go code that changes or rejects writes before they
// are stored.
//
//	type labeler struct{ admission.MutatingOnly }
//
//	func (labeler) Name() string { return "Labeler" }
//
//	func (labeler) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
//		if operation == admission.Create && r.Is("apps", "deployments") {
//			return admission.Mutating
//		}
//		return 0
//	}
//
//	func (labeler) Admit(_ context.Context, a *admission.Attributes) error {
//		metadata := a.Object.Get("metadata")
//		labels := metadata.Get("labels").With("team", document.NewString(a.User.GetName()))
//		a.Object = a.Object.With("metadata", metadata.With("labels", labels))
//		return nil
//	}
//
// Programs pass plugins to a server in apiserver.Options.Admission; example_test.go of package apiserver contains an example.
// The server's own plugins implement the same interface. A plugin rejects a write by returning the error of
// [Attributes.Forbidden] or any other API status error.
//
// # The order of a write
//
// The server decodes the body, merges it with the stored object, calls Admit of the mutating plugins, validates the object by
// the rules of its resource, calls Validate of the validating plugins, and commits. In both phases the built-in plugins
// (NamespaceLifecycle, LimitRanger, …) run first, then those of apiserver.Options.Admission in their order, then policies
// and webhooks. Fields that a mutating plugin sets have no field manager, because managedFields are computed before plugins
// run.
//
// Plugins must be idempotent and have no side effects, because the server may call them several times: it repeats a write
// from the start if it conflicts with a concurrent write of the same object, and it calls mutating plugins again if a mutating
// webhook has changed the object.
//
// Plugins are not called for the objects that the server creates when it starts, such as the namespace default.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/apiserver.admission.txt.
//
// Concurrency: a server calls the methods of a plugin concurrently. [Attributes] belong to one call.
package admission
