package apply

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Options configure the engine of one resource or subresource of a kind.
type Options struct {
	// Versions returns the schemas of the kind's versions and converts documents between these versions; see
	// [OneVersion]. It is required, and must return the same results for as long as the engine is used: when the schema
	// of a kind changes, create a new engine.
	Versions Versions
	// Reset maps a version to its reset fields: the fields that this endpoint ignores, with everything below them.
	// Writes through this endpoint neither gain nor lose ownership of reset fields.
	Reset map[string]fieldset.Set
	// Unset enables unset markers. If it is false, markers are ordinary data.
	Unset bool
	// NoZeroKeys makes an unset marker of a list item state each key whose default is "", 0 or false. Schemas of Go types have
	// such defaults for required fields; they identify no item.
	NoZeroKeys bool
	// Default returns the document with the defaults of the kind added. It is called only for configurations with
	// unset markers, to decide whether an unset field gets a default. Nil means that the kind has no defaults.
	Default func(document.Value) document.Value
	// MaxUpdateEntries is the maximum number of managed fields entries with operation Update in an object; if there are
	// more, the oldest are merged into one entry. 0 means 10, as in Kubernetes.
	MaxUpdateEntries int

	// plain disables the fast paths, for tests that compare the results with and without them.
	plain bool
}

// Engine applies configurations to the objects of one kind at one endpoint, and records updates of them in
// managedFields. It is safe for concurrent use, and its results depend only on its options and arguments.
type Engine struct {
	options Options
	// reconciled caches the hashes of encoded field sets that are known to fit the current schema.
	reconciled *fieldsCache
}

// New returns an Engine, or an error if the options are invalid.
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
	// NoOp reports that neither the document nor any managed fields entry changed.
	NoOp bool
	// Dropped are the managed fields entries that were removed because the kind no longer has their version. No field
	// manager owns their fields any more, as in Kubernetes.
	Dropped []Entry
	// Kept are the managed fields entries that were left unchanged although the object changed, because the conversion
	// to their version is temporarily unavailable. They may still list fields that another manager changed.
	Kept []Entry

	changes *versionedChanges
}

// Changes returns the fields that were added, modified or removed. It compares the documents on the first call. It is
// safe for concurrent use.
func (r Result) Changes() Changes {
	if r.changes == nil {
		return Changes{}
	}
	return r.changes.changesAtRequestVersion().all
}

// typeAt returns the topology of the given version: its schema, reduced to list types and map types. It returns an
// error if the kind does not have that version, or if its topology is not that of a map.
func (e *Engine) typeAt(version string) (*schema.Type, error) {
	t, ok := e.options.Versions.Type(version)
	if !ok {
		return nil, fmt.Errorf("apply: version %q: %w", version, ErrVersionGone)
	}
	if t == nil || t.Map == nil {
		return nil, fmt.Errorf("apply: version %q has no topology for a map, which every object is; use schema.Untyped for a kind without a schema", version)
	}
	return t, nil
}

// Apply merges the configuration of a field manager into the live object, which is the zero Object if it does not
// exist. It returns an [*InvalidError] if the configuration does not fit the schema, a [*ConflictError] if it would
// change fields of other managers, an [*EntryError] if managedFields can't be decoded, and an error that wraps
// [ErrVersionGone] if the kind does not have the version of the request.
func (e *Engine) Apply(live Object, config document.Value, r Request) (Result, error) {
	// 1. Validate the request and the configuration.
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
	intended, err := e.readConfig(t, before.doc, config, r.Version)
	if err != nil {
		return Result{}, err
	}

	// 2. Read the managed fields entries and record the field set that the applier will own.
	managed, err := e.readManagedForApply(live, t, r)
	if err != nil {
		return Result{}, err
	}
	applier := Entry{Manager: r.Manager, Operation: Apply, APIVersion: r.Version, Subresource: r.Subresource}
	if intended, err = e.retainCreatedFields(before, intended, managed, applier, r); err != nil {
		return Result{}, err
	}
	self, previous := managed.recordApply(applier, intended)

	// 3. Prune the fields that the applier released. intended.merged does not contain the fields at which the
	// configuration has unset markers; the defaulting after Apply may set these fields again.
	after, afterUnset := versioned{intended.merged, t, r.Version}, before
	afterUnset.doc = removeFields(t, before.doc, intended.unset)
	if previous != nil {
		pruned, err := e.prune(after, managed, self, *previous)
		if err != nil {
			return Result{}, err
		}
		if pruned != after.doc && intended.setsUntracked {
			// Merging null into a non-empty container keeps the container. If pruning emptied the container, the null
			// of the configuration must replace it, so the configuration is merged a second time.
			var m merger
			pruned = m.merge(t, pruned, intended.config)
		}
		after.doc = pruned
	}
	if !intended.unset.IsEmpty() && e.options.Default != nil {
		after.doc = withFieldsOf(t, after.doc, e.options.Default(after.doc), intended.unset)
	}

	// 4. Compare the old and the new document, and remove the changed fields from the entries of other managers; return
	// a ConflictError if another manager owns a changed field that is not forced.
	c := newVersionedChanges(e, before, after, afterUnset)
	if err := managed.disownChanged(c, self, r); err != nil {
		return Result{}, err
	}

	// 5. Set the time of the applier's entry if the object changed.
	if !c.unchanged {
		managed.setTime(self, r.Time)
	}
	return managed.result(live, after.doc, c), nil
}

// Update records the effect of a write other than an apply: the updated document replaces the live object, which is the
// zero Object if it does not exist. The manager becomes the owner of the fields that it changed; all other managers
// lose ownership of the fields that were changed or removed. metadata.managedFields of the updated document is ignored;
// to change managed fields entries, change live.Entries. Update returns an [*InvalidError] if the updated document is
// not an object, an [*EntryError] if managedFields can't be decoded, and an error that wraps [ErrVersionGone] if the
// kind does not have the version of the request.
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
		return Result{}, newInvalidError(nil, "expected an object, received none")
	}
	if err := checkDocuments(live, updated, r); err != nil {
		return Result{}, err
	}
	live.Document, updated = withoutManagedFields(live.Document), withoutManagedFields(updated)

	// 1. Read the managed fields entries and compare the documents.
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

	// 2. Remove the changed fields from all entries and add them to the entry of the updating manager.
	if err := managed.disownChanged(c, noEntry, r); err != nil {
		return Result{}, err
	}
	entry := Entry{Manager: r.Manager, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	if err := managed.addFields(entry, c.changesAtRequestVersion().tracked.addedOrModified().Difference(untrackedFields), r.Time); err != nil {
		return Result{}, err
	}
	if err := managed.mergeOldestUpdates(e.options.MaxUpdateEntries); err != nil {
		return Result{}, err
	}
	return managed.result(live, updated, c), nil
}

// Merge merges a configuration into an object without a field manager, for mutations by the server itself: no managed
// fields entry is added, fields that the configuration sets or changes keep their owners, nothing is pruned and nothing
// conflicts. If unset markers are enabled, the fields at which the configuration has markers are removed from the object
// and from all managed fields entries, so that no field manager owns their absence. Merge returns an [*InvalidError] if
// the configuration does not fit the schema, an [*EntryError] if managed fields entries that it must change can't be
// decoded, and an error that wraps [ErrVersionGone] if the kind does not have the version.
func (e *Engine) Merge(object Object, config document.Value, version string) (Object, error) {
	t, err := e.typeAt(version)
	if err != nil {
		return Object{}, err
	}
	r := Request{Manager: "merge", Version: version, Force: true}
	if err := checkConfiguration(config, r); err != nil {
		return Object{}, err
	}
	if err := checkDocuments(object, config, r); err != nil {
		return Object{}, err
	}
	object.Document = withoutManagedFields(object.Document)
	before := versioned{emptyIfAbsent(object.Document), t, version}
	in, err := e.readConfig(t, before.doc, config, version)
	if err != nil {
		return Object{}, err
	}
	after := versioned{removeFields(t, before.doc, in.unset), t, version}
	object.Document = in.merged
	if len(object.Entries) == 0 || document.Same(before.doc, after.doc) {
		return object, nil
	}
	managed, err := e.readManaged(object.Entries)
	if err != nil {
		return Object{}, err
	}
	if err := managed.disownChanged(newVersionedChanges(e, before, after, before), noEntry, r); err != nil {
		return Object{}, err
	}
	object.Entries = managed.entries(object.Entries)
	return object, nil
}

// emptyIfAbsent returns doc, or an empty map if doc is absent.
func emptyIfAbsent(doc document.Value) document.Value {
	if doc.IsAbsent() {
		return document.NewMap()
	}
	return doc
}

// isUntracked reports whether the object exists but has no managed fields entries: they were cleared, or the object was
// created before managedFields existed. An update of such an object records no field manager; the first apply starts
// tracking.
func isUntracked(live Object) bool {
	return len(live.Entries) == 0 && live.Document.Lookup("metadata", "uid").Text() != ""
}
