package apply

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Options describe one endpoint of one kind.
type Options struct {
	// Versions knows the kind's versions; see OneVersion. It is required, and must
	// give the same answers for as long as the engine is used: a kind whose
	// topology changes gets a new engine.
	Versions Versions
	// Reset has, by version, the fields that this endpoint wipes, with all that
	// is in them. Nobody gets to own them here, and changing them here takes
	// nothing from their owners.
	Reset map[string]fieldset.Set
	// Unset makes the engine understand unset markers. Without it they are
	// ordinary data.
	Unset bool
	// Default fills in the kind's defaults. It is only called for configurations
	// with unset markers, to see what becomes of the fields that they unset; nil
	// means that there are no defaults.
	Default func(document.Value) document.Value
	// MaxUpdateEntries is how many entries of operation Update an object keeps;
	// the oldest are joined when there are more. 0 means 10, as in Kubernetes.
	MaxUpdateEntries int
	// Plain turns the shortcuts off that make common cases fast. Results are the
	// same; tests run both ways.
	Plain bool
}

// Engine applies configurations to, and tracks updates of, the objects of one kind
// at one endpoint. Its results depend on nothing but what it is given, and it may be
// used concurrently.
type Engine struct {
	options Options
	fitting *memo
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
	return &Engine{options: options, fitting: newMemo()}, nil
}

// Result is the outcome of a write.
type Result struct {
	// Object is the new object. Where nothing changed it shares the live one's
	// document and entries.
	Object Object
	// NoOp says that neither the document nor an entry changed.
	NoOp bool
	// Dropped are the entries that were dropped because the kind does not have
	// their version any more. Nobody owns what they had, as in Kubernetes.
	Dropped []Entry
	// Kept are the entries that were left as they were, although the object changed, because it can't be converted to
	// their version now.
	Kept []Entry

	changes *changesAt
}

// Changes returns the fields whose values changed. They are found on demand.
func (r Result) Changes() Changes {
	if r.changes == nil {
		return Changes{}
	}
	return r.changes.here().all
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

// Apply merges a manager's configuration into the live object, which is the zero
// Object if there is none yet. It fails with an *InvalidError if the configuration
// does not fit the kind, with a *ConflictError if it would change what others own,
// with an *EntryError if it can't be read what they own, and with an error that wraps
// ErrVersionGone if the kind does not have the version of the request.
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
	was := versioned{emptyIfAbsent(live.Document), t, r.Version}
	in, err := e.read(t, was.doc, config, r.Version)
	if err != nil {
		return Result{}, err
	}

	// 2. Who owns what now?
	owners, err := e.readOwners(live, t, r)
	if err != nil {
		return Result{}, err
	}
	me, last := owners.put(Entry{Manager: r.Manager, Operation: Apply, APIVersion: r.Version, Subresource: r.Subresource}, in)

	// 3. What I unset is gone; what I no longer apply goes. Then defaults come back.
	will, justUnset := versioned{in.merged, t, r.Version}, was
	justUnset.doc = remove(t, was.doc, in.unset)
	if last != nil {
		pruned, err := e.prune(will, owners, me, *last)
		if err != nil {
			return Result{}, err
		}
		if pruned != will.doc && in.hollow {
			// Where I apply null to what pruning has emptied, null counts now.
			var m merger
			pruned = m.merge(t, pruned, in.config)
		}
		will.doc = pruned
	}
	if !in.unset.IsEmpty() && e.options.Default != nil {
		will.doc = e.options.Default(will.doc)
	}

	// 4. What does that change, and who minds?
	c := newChangesAt(e, was, will, justUnset)
	if err := owners.take(c, me, r); err != nil {
		return Result{}, err
	}

	// 5. Record it.
	if !c.none {
		owners.touch(me, r.Time)
	}
	return owners.result(live, will.doc, c), nil
}

// Update records what another kind of write did to the live object, which is the
// zero Object if there is none yet. The manager becomes the owner of the fields
// that it changed; everybody else loses what was changed or removed. managedFields in
// the updated document count for nothing: whoever means to change them gives a live
// object that has other entries.
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
	owners, err := e.readEntries(live.Entries)
	if err != nil {
		return Result{}, err
	}
	was := versioned{emptyIfAbsent(live.Document), t, r.Version}
	will := versioned{updated, t, r.Version}
	c := newChangesAt(e, was, will, was)
	if isUntracked(live) {
		return owners.result(live, updated, c), nil
	}

	// 2. Everybody loses what changed, and I get it.
	if err := owners.take(c, nobody, r); err != nil {
		return Result{}, err
	}
	mine := Entry{Manager: r.Manager, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	if err := owners.join(mine, c.here().counting.set().Difference(neverOwned), r.Time); err != nil {
		return Result{}, err
	}
	if err := owners.joinOldest(e.options.MaxUpdateEntries); err != nil {
		return Result{}, err
	}
	return owners.result(live, updated, c), nil
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
