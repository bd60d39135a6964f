package crd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
	"github.com/cadastre/cadastre/internal/api/strategy"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/schema"
)

// Resource is the custom resource that one generation of a CustomResourceDefinition defines. It implements
// strategy.Definition and strategy.StorageConverter. It is immutable except for MarkCurrent and MarkStale, and safe for
// concurrent use.
type Resource struct {
	*Definition
	storageVersion string // storageVersion caches Definition.StorageVersion, which searches all versions.
	versions       map[string]*compiledVersion
	converter      Converter // converter is nil for a previous generation of a CustomResourceDefinition.
	// currentSince is a storage revision: all objects with a revision greater than currentSince were written with this
	// Definition. It is math.MaxInt64 if no such revision is known.
	currentSince atomic.Int64
}

// compiledVersion is one version of a Resource. Its schema and printer columns are compiled on first use.
type compiledVersion struct {
	*Version
	values  func() (*structural.Type, error)
	columns func() (*encoding.Columns, error)
	hash    func() [sha256.Size]byte // hash returns a hash of the schema and of spec.preserveUnknownFields.
}

// NewResource returns the Resource of a Definition. For versions that are unchanged, it reuses the compiled schemas of
// previous, the Resource of the previous generation, which may be nil.
func NewResource(definition *Definition, previous *Resource, converter Converter) *Resource {
	d := &Resource{
		Definition: definition, storageVersion: definition.StorageVersion(),
		versions: make(map[string]*compiledVersion, len(definition.Versions)), converter: converter,
	}
	d.MarkStale()
	for i := range definition.Versions {
		v := &definition.Versions[i]
		d.versions[v.Name] = d.newVersion(v)
		if previous == nil || previous.PreserveUnknownFields != d.PreserveUnknownFields || previous.Namespaced != d.Namespaced || previous.AcceptedNames.Kind != d.AcceptedNames.Kind {
			continue
		}
		if old := previous.versions[v.Name]; old != nil && document.Equal(old.Schema, v.Schema) && sameScale(old.scale, v.scale) {
			d.versions[v.Name].values = old.values
		}
	}
	return d
}

func sameScale(a, b *api.ScalePaths) bool {
	if a == nil || b == nil {
		return a == b
	}
	return scaleText(a) == scaleText(b)
}

func scaleText(s *api.ScalePaths) string {
	return strings.Join([]string{jsonPath(s.Replicas), jsonPath(s.StatusReplicas), jsonPath(s.Selector)}, " ")
}

// jsonPath formats path like the JSON paths in CustomResourceDefinitions, such as .spec.replicas; "" if the path is nil.
func jsonPath(path []string) string {
	if path == nil {
		return ""
	}
	return "." + strings.Join(path, ".")
}

func (r *Resource) newVersion(v *Version) *compiledVersion {
	options := structural.Options{Group: r.Group, Version: v.Name, Kind: r.AcceptedNames.Kind, Namespaced: r.Namespaced, Preserve: r.PreserveUnknownFields}
	if s := v.scale; s != nil {
		options.Scale = &structural.Scale{SpecReplicas: jsonPath(s.Replicas), StatusReplicas: jsonPath(s.StatusReplicas), LabelSelector: jsonPath(s.Selector)}
	}
	unparsed := v.Schema
	return &compiledVersion{
		Version: v,
		values: sync.OnceValues(func() (*structural.Type, error) {
			text, err := openSchema(unparsed)
			if err != nil {
				return nil, err
			}
			return structural.Compile(text, options)
		}),
		columns: sync.OnceValues(func() (*encoding.Columns, error) { return encoding.CustomColumns(v.columns) }),
		hash: sync.OnceValue(func() [sha256.Size]byte {
			h := sha256.New()
			_, _ = fmt.Fprintf(h, "%t %s", r.PreserveUnknownFields, unparsed.JSON()) // hash.Hash never returns an error
			return [sha256.Size]byte(h.Sum(nil))
		}),
	}
}

// openSchema parses the unparsed JSON of a version's field schema and returns its openAPIV3Schema; an absent value if there
// is none.
func openSchema(unparsed document.Value) (document.Value, error) {
	if unparsed.Kind() != document.Map {
		return document.Value{}, nil
	}
	doc, err := document.ParseJSONLimited(unparsed.JSON(), document.Limits{MaxBytes: -1})
	return doc.Get("openAPIV3Schema"), err
}

// NewKind returns the kind that the CustomResourceDefinition defines. For versions that are unchanged, it reuses the compiled
// schemas of previous, the kind of the previous generation, which may be nil.
func (d *Definition) NewKind(previous *api.Kind, webhooks Webhooks) *api.Kind {
	var old *Resource
	if previous != nil {
		old = previous.Definition.(*Resource)
	}
	defined := *d
	n := defined.AcceptedNames
	return &api.Kind{
		Group: d.Group, Name: n.Kind, Resource: n.Plural, SingularName: n.Singular, ListKind: n.ListKind,
		ShortNames: n.ShortNames, Categories: n.Categories, Versions: d.ServedVersions(), Namespaced: d.Namespaced,
		StoredAt: d.Group + "/" + d.StorageVersion(), Deprecated: d.Deprecations(),
		Traits: api.Traits{RequireResourceVersion: true},
		Custom: true, Terminating: d.Terminating, Definition: NewResource(&defined, old, NewConverter(&defined, webhooks)), WriteGate: api.NewWriteGate(),
	}
}

// IsServedBy reports whether a registered kind is up to date: NewKind would return an equal kind.
func (d *Definition) IsServedBy(kind *api.Kind) bool {
	of := kind.Definition.(*Resource)
	return of.UID == d.UID && of.Generation == d.Generation && of.AcceptedNames.Equal(d.AcceptedNames) && kind.Terminating == d.Terminating
}

// MarkCurrent records that every object with a revision greater than revision was written with this CRD. Requests at the
// storage version receive these objects without conversion.
func (r *Resource) MarkCurrent(revision storage.Revision) { r.currentSince.Store(int64(revision)) }

// MarkStale reverts MarkCurrent: every object may have been written with an earlier generation of the CRD.
func (r *Resource) MarkStale() { r.currentSince.Store(math.MaxInt64) }

// IsMarkedCurrent reports whether MarkCurrent was called after the last call of MarkStale.
func (r *Resource) IsMarkedCurrent() bool { return r.currentSince.Load() != math.MaxInt64 }

// at returns the version with the given name; nil if there is none.
func (r *Resource) at(version string) *compiledVersion { return r.versions[version] }

var errNoVersion = errors.New("the definition does not have this version")

// typeAt returns the compiled schema of the given version. If there is no such version, the error is errNoVersion.
func (r *Resource) typeAt(version string) (*structural.Type, error) {
	v := r.at(version)
	if v == nil {
		return nil, fmt.Errorf("%s at %q: %w", r.Name, version, errNoVersion)
	}
	return v.values()
}

// Topology implements api.Definition.
func (r *Resource) Topology(version string) (*schema.Type, bool) {
	t, err := r.typeAt(version)
	if err != nil {
		return nil, false
	}
	return t.Topology(), true
}

// Subresources implements api.Definition.
func (r *Resource) Subresources(version string) []string {
	if v := r.at(version); v != nil {
		return v.subresources
	}
	return nil
}

// ScalePaths implements api.Definition.
func (r *Resource) ScalePaths(version string) *api.ScalePaths {
	if v := r.at(version); v != nil {
		return v.scale
	}
	return nil
}

// Values implements strategy.Definition.
func (r *Resource) Values(version string) (strategy.Values, error) {
	t, err := r.typeAt(version)
	if err != nil {
		return nil, err
	}
	return values{t}, nil
}

// Columns returns the printer columns of the given version; the default columns if there is no such version.
func (r *Resource) Columns(version string) (*encoding.Columns, error) {
	v := r.at(version)
	if v == nil {
		return encoding.CustomColumns(nil)
	}
	return v.columns()
}

// SelectableFields returns the paths, such as spec.color, of the selectableFields of the given version. The result does not
// include metadata.name and metadata.namespace, which are always selectable.
func (r *Resource) SelectableFields(version string) []string {
	if v := r.at(version); v != nil {
		return v.selectable
	}
	return nil
}

// Schema returns the openAPIV3Schema of the given version; an absent value if there is none.
func (r *Resource) Schema(version string) (document.Value, error) {
	v := r.at(version)
	if v == nil {
		return document.Value{}, nil
	}
	return openSchema(v.Schema)
}

// PreservesUnknownFields reports whether spec.preserveUnknownFields disables pruning.
func (r *Resource) PreservesUnknownFields() bool { return r.PreserveUnknownFields }

// IsServedAsStored implements strategy.StorageConverter.
func (r *Resource) IsServedAsStored(revision storage.Revision, version string) bool {
	return version == r.storageVersion && int64(revision) > r.currentSince.Load()
}

// FromStorage implements strategy.StorageConverter.
func (r *Resource) FromStorage(stored document.Value, version string) (document.Value, error) {
	all, err := r.FromStorageAll([]document.Value{stored}, version)
	if err != nil {
		return stored, err
	}
	return all[0], nil
}

// FromStorageAll implements strategy.StorageConverter.
func (r *Resource) FromStorageAll(stored []document.Value, version string) ([]document.Value, error) {
	return r.ConvertAll(context.Background(), stored, version)
}

// ConvertAll is FromStorageAll with a context. Each object is pruned and defaulted at the version at which it is stored, and
// converted to version if it is stored at another version.
func (r *Resource) ConvertAll(ctx context.Context, stored []document.Value, version string) ([]document.Value, error) {
	var (
		to        = r.Group + "/" + version
		all       []document.Value
		others    []int // indexes in the slice all of the objects that must be converted
		toConvert []document.Value
		last      error // error of the first object that could not be read; later objects are not read
	)
	for _, one := range stored {
		doc, err := r.readStored(one)
		if err != nil {
			last = err
			break
		}
		if doc.Get("apiVersion").Text() != to {
			others, toConvert = append(others, len(all)), append(toConvert, doc)
		}
		all = append(all, doc)
	}
	if len(toConvert) == 0 {
		return all, last
	}
	converted, err := r.convert(ctx, toConvert, to)
	for i, doc := range converted {
		all[others[i]] = doc
	}
	if err != nil {
		return all[:others[len(converted)]], err
	}
	return all, last
}

// readStored returns the object stored, pruned and defaulted with the current schema of the version at which it is stored.
func (r *Resource) readStored(stored document.Value) (document.Value, error) {
	apiVersion := stored.Get("apiVersion").Text()
	t, err := r.typeAt(path.Base(apiVersion))
	if errors.Is(err, errNoVersion) {
		return stored, plainError(fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion))
	}
	if err != nil {
		return stored, apierrors.NewInternalError(err)
	}
	return pruneAndDefault(t, stored), nil
}

// pruneAndDefault returns the object stored, pruned and defaulted with the current schema t. It returns an object that cannot
// be decoded with t unchanged; validation rejects that object on its next write.
func pruneAndDefault(t *structural.Type, stored document.Value) document.Value {
	doc, _, err := t.Decode(stored)
	if err != nil {
		return stored
	}
	return t.Default(doc)
}

// RoundTripped implements strategy.StorageConverter. With a conversion webhook, it returns the document unchanged, because the
// result is unknown without a call to the webhook.
func (r *Resource) RoundTripped(doc document.Value) document.Value {
	version := path.Base(doc.Get("apiVersion").Text())
	if !r.ConversionIsNone() || version == r.storageVersion {
		return doc
	}
	stored, err := r.ToStorage(doc)
	if err != nil {
		return doc
	}
	read, err := r.FromStorage(stored, version)
	if err != nil {
		return doc
	}
	return read
}

// ToStorage implements strategy.StorageConverter. If doc has another version than the storage version, ToStorage converts it
// and sets the defaults of the storage version.
func (r *Resource) ToStorage(doc document.Value) (document.Value, error) {
	from := doc.Get("apiVersion").Text()
	stored, err := r.Convert(doc, from, r.Group+"/"+r.storageVersion)
	if err != nil || path.Base(from) == r.storageVersion {
		return stored, err
	}
	t, err := r.typeAt(r.storageVersion)
	if err != nil {
		return doc, err
	}
	return t.Default(stored), nil
}

// ConvertUnpruned implements strategy.StorageConverter. It validates the apiVersion of the object, which an admission webhook
// may have changed.
func (r *Resource) ConvertUnpruned(doc document.Value, to string) (document.Value, error) {
	from := doc.Get("apiVersion").Text()
	group, version, _ := strings.Cut(from, "/")
	if group != r.Group {
		return doc, plainError(fmt.Errorf("%s is unstructured and is not suitable for converting to %q", kindText(doc), to))
	}
	if r.at(version) == nil {
		return doc, plainError(fmt.Errorf("request to convert CR from an invalid group/version: %s", from))
	}
	converted, err := r.converter.Convert(context.Background(), []document.Value{doc}, to)
	if err != nil {
		return doc, newConversionError(err)
	}
	return converted[0], nil
}

// Convert implements api.Definition.
func (r *Resource) Convert(doc document.Value, from, to string) (document.Value, error) {
	if from == to {
		return doc, nil
	}
	if r.at(path.Base(to)) == nil {
		return doc, fmt.Errorf("convert %s from %s to %s: %w", r.Name, from, to, apply.ErrVersionGone)
	}
	converted, err := r.convert(context.Background(), []document.Value{doc}, to)
	if err != nil {
		return doc, err
	}
	return converted[0], nil
}

// convert returns the objects in all converted to the apiVersion to, and pruned. If an object cannot be converted, convert
// returns the error and the results for the objects before that object.
func (r *Resource) convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error) {
	t, err := r.typeAt(path.Base(to))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	converted, failed := r.converter.Convert(ctx, all, to)
	for i, doc := range converted {
		if converted[i], _, err = t.Decode(doc); err != nil {
			return converted[:i], apierrors.NewInternalError(err)
		}
	}
	if failed != nil {
		return converted, newConversionError(failed)
	}
	return converted, nil
}
