package apply

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Options configure the engine of one resource or subresource of a kind.
type Options struct {
	// Versions has the versions of the kind; see [OneVersion]. It is required, and must return the same results for as
	// long as the engine is used: a kind whose schema changes gets a new engine.
	Versions Versions
	// Reset has, by version, the reset fields: fields that this endpoint ignores, with everything below them. Writes
	// here neither gain nor lose their ownership.
	Reset map[string]fieldset.Set
	// Unset enables unset markers. Without it they are ordinary data.
	Unset bool
	// Default returns a document with the defaults of the kind. It is called only for configurations with unset
	// markers, to decide whether an unset field gets a default; nil means that there are no defaults.
	Default func(document.Value) document.Value
	// MaxUpdateEntries is the maximum number of entries with operation Update in an object; the oldest are merged into
	// one. 0 means 10, as in Kubernetes.
	MaxUpdateEntries int

	// plain disables the fast paths. Tests compare the results of both.
	plain bool
}

// Engine applies configurations to the objects of one kind at one endpoint, and tracks updates of them. It is safe for
// concurrent use, and its results depend only on its options and arguments.
type Engine struct {
	options Options
	reconciled *fieldsCache
}

// New checks the options and returns an Engine.
func New(options Options) (*Engine, error) {
	if options.Versions == nil {
		return nil, fmt.Errorf("apply: Options.Versions is required; use OneVersion for a kind with one version")
	}
	if options.MaxUpdateEntries < 0 {
		return nil, fmt.Errorf("apply: Options.MaxUpdateEntries: expected 0 or more, received %d; 0 means %d", options.MaxUpdateEntries, defaultMaxUpdateEntries)
	}
	if options.MaxUpdateEntries == 0 {
		options.MaxUpdateEntries = defaultMaxUpdateEntries
	}
	return &Engine{options: options, reconciled: newFieldsCache()}, nil
}

// Result is the outcome of a write.
type Result struct {
	// Object is the new object. It shares the unchanged parts of the live object.
	Object Object
	// NoOp reports that neither the document nor any entry changed.
	NoOp bool
	// Dropped are the entries that were removed because the kind no longer has their version. Their fields have no
	// owner, as in Kubernetes.
	Dropped []Entry
	// Kept are the entries that were not updated, although the object changed, because a conversion to their version
	// is not available now.
	Kept []Entry

	changes *versionedChanges
}

// Changes returns the fields whose values changed. It is computed on the first call, from the documents of the write.
func (r Result) Changes() Changes {
	if r.changes == nil {
		return Changes{}
	}
	return r.changes.atRequestVersion().all
}

// typeAt returns the topology at the version of a request.
func (e *Engine) typeAt(version string) (*schema.Type, error) {
	t, ok := e.options.Versions.Type(version)
	if !ok {
		return nil, fmt.Errorf("apply: version %q: %w", version, ErrVersionGone)
	}
	if t == nil || t.Map == nil {
		return nil, fmt.Errorf("apply: version %q has no topology that takes a map, as every object is one; use schema.Untyped for a kind without a schema", version)
	}
	return t, nil
}

// Apply merges the configuration of a field manager into the live object, which is the zero Object if it does not
// exist. It returns an [*InvalidError] if the configuration does not fit the schema, a [*ConflictError] if it would
// change fields of other managers, an [*EntryError] if managedFields can't be decoded, and an error that wraps
// [ErrVersionGone] if the kind does not have the version of the request.
func (e *Engine) Apply(live Object, config document.Value, r Request) (Result, error) {
	// 1. Check what was sent.
	t, err := e.typeAt(r.Version)
	if err != nil {
		return Result{}, err
	}
	if err := checkConfiguration(config, r); err != nil {
		return Result{}, err
	}
	if err := checkDocuments(live, config, r); err != nil {
		return Result{}, err
	}
	live.Document = withoutManagedFields(live.Document)
	before := versioned{emptyIfAbsent(live.Document), t, r.Version}
	in, err := e.readConfig(t, before.doc, config, r.Version)
	if err != nil {
		return Result{}, err
	}

	// 2. Who owns what now?
	managed, err := e.readManagedForApply(live, t, r)
	if err != nil {
		return Result{}, err
	}
	self, previous := managed.recordApply(Entry{Manager: r.Manager, Operation: Apply, APIVersion: r.Version, Subresource: r.Subresource}, in)

	// 3. What I unset is gone; what I no longer apply goes. Then defaults come back.
	after, afterUnset := versioned{in.merged, t, r.Version}, before
	afterUnset.doc = remove(t, before.doc, in.unset)
	if previous != nil {
		pruned, err := e.prune(after, managed, self, *previous)
		if err != nil {
			return Result{}, err
		}
		if pruned != after.doc && in.setsUntracked {
			// Where I apply null to what pruning has emptied, null counts now.
			var m merger
			pruned = m.merge(t, pruned, in.config)
		}
		after.doc = pruned
	}
	if !in.unset.IsEmpty() && e.options.Default != nil {
		after.doc = e.options.Default(after.doc)
	}

	// 4. What does that change, and who minds?
	c := newVersionedChanges(e, before, after, afterUnset)
	if err := managed.disownChanged(c, self, r); err != nil {
		return Result{}, err
	}

	// 5. Record it.
	if !c.unchanged {
		managed.setTime(self, r.Time)
	}
	return managed.result(live, after.doc, c), nil
}

// Update records the effect of any other write: the live object, which is the zero Object if it does not exist, is
// replaced by the updated document. The manager becomes the owner of the fields that it changed; the other managers
// lose the fields that were changed or removed. managedFields in the updated document are ignored; to change them,
// pass a live object with other entries.
func (e *Engine) Update(live Object, updated document.Value, r Request) (Result, error) {
	t, err := e.typeAt(r.Version)
	if err != nil {
		return Result{}, err
	}
	if r.Manager == "" {
		r.Manager = "unknown"
	}
	r.Force = true
	if updated.IsAbsent() {
		return Result{}, invalid(nil, "expected an object, received absent")
	}
	if err := checkDocuments(live, updated, r); err != nil {
		return Result{}, err
	}
	live.Document, updated = withoutManagedFields(live.Document), withoutManagedFields(updated)

	// 1. Who owns what now, and what changed?
	managed, err := e.readManaged(live.Entries)
	if err != nil {
		return Result{}, err
	}
	before := versioned{emptyIfAbsent(live.Document), t, r.Version}
	after := versioned{updated, t, r.Version}
	c := newVersionedChanges(e, before, after, before)
	if isUntracked(live) {
		return managed.result(live, updated, c), nil
	}

	// 2. Everybody loses what changed, and I get it.
	if err := managed.disownChanged(c, noEntry, r); err != nil {
		return Result{}, err
	}
	entry := Entry{Manager: r.Manager, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	if err := managed.addFields(entry, c.atRequestVersion().tracked.set().Difference(untrackedFields), r.Time); err != nil {
		return Result{}, err
	}
	if err := managed.mergeOldestUpdates(e.options.MaxUpdateEntries); err != nil {
		return Result{}, err
	}
	return managed.result(live, updated, c), nil
}

func emptyIfAbsent(doc document.Value) document.Value {
	if doc.IsAbsent() {
		return document.NewMap()
	}
	return doc
}

// isUntracked reports whether an object exists without anybody owning anything in
// it: its ownership was cleared, or it is older than ownership. Updates leave it
// so; the first apply starts tracking.
func isUntracked(live Object) bool {
	return len(live.Entries) == 0 && live.Document.Lookup("metadata", "uid").Text() != ""
}
