package smd

import (
	"fmt"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Engine applies and updates objects of one kind. Objects are JSON.
type Engine struct {
	// Now returns the time of managed fields entries that change; nil means time.Now.
	Now func() time.Time

	kind    *Kind
	updater *merge.Updater
}

// NewEngine returns an engine for objects of kind.
func NewEngine(kind *Kind) *Engine {
	builder := merge.UpdaterBuilder{Converter: sameVersion{}}
	return &Engine{kind: kind, updater: builder.BuildUpdater()}
}

// Apply merges config, the configuration that manager applies, into the live object, which is empty for a create. It
// returns the resulting object.
func (e *Engine) Apply(live, config []byte, manager string, force bool) ([]byte, error) {
	// 1. Decode both objects. The live object's managedFields become field sets.
	liveObject, err := e.decodeLive(live)
	if err != nil {
		return nil, err
	}
	configObject, err := decodeObject(config)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if configObject.removeManagedFields() != nil {
		return nil, fmt.Errorf("configuration: metadata.managedFields must be nil")
	}
	managed, err := decodeManaged(liveObject.removeManagedFields())
	if err != nil {
		return nil, err
	}
	self, err := identifier(entry{Manager: manager, Operation: operationApply})
	if err != nil {
		return nil, err
	}

	// 2. Validate against the schema.
	configTyped, err := e.kind.Type.FromUnstructured(map[string]any(configObject))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	liveTyped, err := e.kind.Type.FromUnstructured(map[string]any(liveObject), typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}

	// 3. Merge the configuration, remove fields that it no longer contains, and detect conflicts.
	version := fieldpath.APIVersion(e.kind.APIVersion)
	merged, fields, err := e.updater.Apply(liveTyped, configTyped, version, managed.fields, self, force)
	if err != nil {
		return nil, err
	}
	managed.fields = fields
	managed.strip(self)

	// 4. A no-op returns the live object, whose managed fields entry keeps its time.
	result := liveObject
	if merged != nil {
		managed.times[self] = e.timestamp()
		result = object(merged.AsValue().Unstructured().(map[string]any))
	}
	return encode(result, managed)
}

// Update replaces live, which is empty for a create, with updated, and updates the managed fields entry of manager. It
// returns the resulting object.
func (e *Engine) Update(live, updated []byte, manager string) ([]byte, error) {
	return e.UpdateSubresource(live, updated, manager, "")
}

// UpdateSubresource is Update through a subresource, such as status.
func (e *Engine) UpdateSubresource(live, updated []byte, manager, subresource string) ([]byte, error) {
	// 1. Decode both objects. If the client omitted managedFields, those of the live object are used.
	liveObject, err := e.decodeLive(live)
	if err != nil {
		return nil, err
	}
	newObject, err := decodeObject(updated)
	if err != nil {
		return nil, fmt.Errorf("updated object: %w", err)
	}
	entries := liveObject.removeManagedFields()
	if sent := newObject.removeManagedFields(); len(sent) > 0 {
		entries = sent
	}
	managed, err := decodeManaged(entries)
	if err != nil {
		return nil, err
	}
	self, err := identifier(entry{Manager: manager, Operation: operationUpdate, APIVersion: e.kind.APIVersion, Subresource: subresource})
	if err != nil {
		return nil, err
	}

	// 2. Validate against the schema.
	newTyped, err := e.kind.Type.FromUnstructured(map[string]any(newObject), typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("updated object: %w", err)
	}
	liveTyped, err := e.kind.Type.FromUnstructured(map[string]any(liveObject), typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}

	// 3. Update under a temporary manager identifier, to detect whether this update changed a field.
	const current = "current-operation"
	version := fieldpath.APIVersion(e.kind.APIVersion)
	_, fields, err := e.updater.Update(liveTyped, newTyped, version, managed.fields, current)
	if err != nil {
		return nil, err
	}
	managed.fields = fields
	managed.strip(current)
	if changed, ok := managed.fields[current]; ok {
		managed.rename(current, self, changed)
		managed.times[self] = e.timestamp()
	}
	return encode(newObject, managed)
}

// decodeLive decodes the live object. For a create it returns an object with only apiVersion and kind, as
// kube-apiserver does.
func (e *Engine) decodeLive(live []byte) (object, error) {
	if len(live) == 0 {
		return object{"apiVersion": e.kind.APIVersion, "kind": e.kind.Name}, nil
	}
	decoded, err := decodeObject(live)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}
	return decoded, nil
}

func (e *Engine) timestamp() string {
	now := time.Now
	if e.Now != nil {
		now = e.Now
	}
	return now().UTC().Format(time.RFC3339)
}

// sameVersion is a version converter that does nothing, because all managed fields entries of the benchmark have one
// version.
type sameVersion struct{}

func (sameVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (sameVersion) IsMissingVersionError(error) bool { return false }
