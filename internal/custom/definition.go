package custom

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
	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/structural"
	"github.com/cadastre/cadastre/schema"
)

// definition is what a custom kind was made of. It never changes but for since and bringing: a CustomResourceDefinition
// that changes makes a new one.
type definition struct {
	*reading
	store     string // the version that objects are stored at
	versions  map[string]*definedVersion
	converter converter // nil if another definition has taken the place of this one: that converts
	// since is a revision after which all objects were written by this definition.
	since atomic.Int64
	// bringing is over when nobody brings owners over to the definition any more.
	bringing sync.WaitGroup
}

// definedVersion is one version of a definition. What is costly is made when it is first needed.
type definedVersion struct {
	*versionReading
	values  func() (*structural.Type, error)
	columns func() (*codec.Columns, error)
	hash    func() [sha256.Size]byte // of the schema, and of whether unknown fields are preserved
}

// newDefinition returns what a CustomResourceDefinition defines. What it has in common with the definition
// before, which may be nil, is not made again.
func newDefinition(r *reading, before *definition, converter converter) *definition {
	d := &definition{reading: r, store: r.stored(), versions: make(map[string]*definedVersion, len(r.versions)), converter: converter}
	d.since.Store(math.MaxInt64)
	for i := range r.versions {
		v := &r.versions[i]
		d.versions[v.name] = d.newVersion(v)
		if before == nil || before.preserve != d.preserve || before.namespaced != d.namespaced || before.accepted.kind != d.accepted.kind {
			continue
		}
		if old := before.versions[v.name]; old != nil && document.Equal(old.schema, v.schema) && sameScale(old.subresources.Scale, v.subresources.Scale) {
			d.versions[v.name].values = old.values
		}
	}
	return d
}

func sameScale(a, b *kinds.ScalePaths) bool {
	if a == nil || b == nil {
		return a == b
	}
	return scaleText(a) == scaleText(b)
}

func scaleText(s *kinds.ScalePaths) string {
	return strings.Join([]string{dotted(s.Replicas), dotted(s.StatusReplicas), dotted(s.Selector)}, " ")
}

// dotted writes a path as definitions do; "" if there is none.
func dotted(path []string) string {
	if path == nil {
		return ""
	}
	return "." + strings.Join(path, ".")
}

func (d *definition) newVersion(v *versionReading) *definedVersion {
	options := structural.Options{Group: d.group, Version: v.name, Kind: d.accepted.kind, Namespaced: d.namespaced, Preserve: d.preserve}
	if s := v.subresources.Scale; s != nil {
		options.Scale = &structural.Scale{SpecReplicas: dotted(s.Replicas), StatusReplicas: dotted(s.StatusReplicas), LabelSelector: dotted(s.Selector)}
	}
	sealed := v.schema
	return &definedVersion{
		versionReading: v,
		values: sync.OnceValues(func() (*structural.Type, error) {
			text, err := openSchema(sealed)
			if err != nil {
				return nil, err
			}
			return structural.Compile(text, options)
		}),
		columns: sync.OnceValues(func() (*codec.Columns, error) { return codec.CustomColumns(v.columns) }),
		hash: sync.OnceValue(func() [sha256.Size]byte {
			h := sha256.New()
			_, _ = fmt.Fprintf(h, "%t %s", d.preserve, sealed.JSON()) // a hash takes everything
			return [sha256.Size]byte(h.Sum(nil))
		}),
	}
}

// openSchema returns the schema of a version, which is sealed in what was read; absent if there is none.
func openSchema(sealed document.Value) (document.Value, error) {
	if sealed.Kind() != document.Map {
		return document.Value{}, nil
	}
	doc, err := document.ParseJSONLimited(sealed.JSON(), document.Limits{MaxBytes: -1})
	return doc.Get("openAPIV3Schema"), err
}

// at returns a version, nil if the definition does not have it.
func (d *definition) at(version string) *definedVersion { return d.versions[version] }

var errNoVersion = errors.New("the definition does not have this version")

// typeAt returns what is known about the values at a version.
func (d *definition) typeAt(version string) (*structural.Type, error) {
	v := d.at(version)
	if v == nil {
		return nil, fmt.Errorf("%s at %q: %w", d.name, version, errNoVersion)
	}
	return v.values()
}

// Topology implements kinds.Definition.
func (d *definition) Topology(version string) (*schema.Type, bool) {
	t, err := d.typeAt(version)
	if err != nil {
		return nil, false
	}
	return t.Topology(), true
}

// Subresources implements kinds.Definition.
func (d *definition) Subresources(version string) kinds.Subresources {
	if v := d.at(version); v != nil {
		return v.subresources
	}
	return kinds.Subresources{}
}

// Values implements objects.Definition.
func (d *definition) Values(version string) (objects.Values, error) {
	t, err := d.typeAt(version)
	if err != nil {
		return nil, err
	}
	return values{t}, nil
}

// Columns returns how tables show objects at a version.
func (d *definition) Columns(version string) (*codec.Columns, error) {
	v := d.at(version)
	if v == nil {
		return codec.CustomColumns(nil)
	}
	return v.columns()
}

// SelectableFields returns what field selectors can ask for at a version, beside name and namespace.
func (d *definition) SelectableFields(version string) []string {
	if v := d.at(version); v != nil {
		return v.selectable
	}
	return nil
}

// Schema returns the schema of a version as it was written, absent if there is none.
func (d *definition) Schema(version string) (document.Value, error) {
	v := d.at(version)
	if v == nil {
		return document.Value{}, nil
	}
	return openSchema(v.schema)
}

// PreservesUnknownFields reports whether nothing is dropped from objects, whatever the schemas say.
func (d *definition) PreservesUnknownFields() bool { return d.preserve }

// IsAt implements objects.Evolving.
func (d *definition) IsAt(revision store.Revision, version string) bool {
	return version == d.store && int64(revision) > d.since.Load()
}

// At implements objects.Evolving.
func (d *definition) At(stored document.Value, version string) (document.Value, error) {
	all, err := d.AllAt([]document.Value{stored}, version)
	if err != nil {
		return stored, err
	}
	return all[0], nil
}

// AllAt implements objects.Evolving. Objects are read at the versions that they have, and only those are converted that
// have another one.
func (d *definition) AllAt(stored []document.Value, version string) ([]document.Value, error) {
	return d.allAt(context.Background(), stored, version)
}

// allAt does the same for as long as a context lasts.
func (d *definition) allAt(ctx context.Context, stored []document.Value, version string) ([]document.Value, error) {
	var (
		to     = d.group + "/" + version
		all    []document.Value
		others []int // which of them are at other versions
		asked  []document.Value
		last   error // why the one after all can't be read
	)
	for _, one := range stored {
		doc, err := d.read(one)
		if err != nil {
			last = err
			break
		}
		if doc.Get("apiVersion").Text() != to {
			others, asked = append(others, len(all)), append(asked, doc)
		}
		all = append(all, doc)
	}
	if len(asked) == 0 {
		return all, last
	}
	converted, err := d.convert(ctx, asked, to)
	for i, doc := range converted {
		all[others[i]] = doc
	}
	if err != nil {
		return all[:others[len(converted)]], err
	}
	return all, last
}

// read returns a stored object at the version that it has, as the schema has it now.
func (d *definition) read(stored document.Value) (document.Value, error) {
	apiVersion := stored.Get("apiVersion").Text()
	t, err := d.typeAt(path.Base(apiVersion))
	if errors.Is(err, errNoVersion) {
		return stored, plainError(fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion))
	}
	if err != nil {
		return stored, apierrors.NewInternalError(err)
	}
	return readStored(t, stored), nil
}

// readStored returns a stored object as the schema has it now. What can't be read stays as it is: whoever
// writes it hears of it.
func readStored(t *structural.Type, stored document.Value) document.Value {
	doc, _, err := t.Read(stored)
	if err != nil {
		return stored
	}
	return t.Default(doc)
}

// Readable implements objects.Evolving. A webhook may bring anything back.
func (d *definition) Readable(doc document.Value) document.Value {
	version := path.Base(doc.Get("apiVersion").Text())
	if !d.isAlike() || version == d.store {
		return doc
	}
	stored, err := d.Stored(doc)
	if err != nil {
		return doc
	}
	read, err := d.At(stored, version)
	if err != nil {
		return doc
	}
	return read
}

// Stored implements objects.Evolving. What is written at another version has the defaults of the one that is stored, as
// it will be read.
func (d *definition) Stored(doc document.Value) (document.Value, error) {
	from := doc.Get("apiVersion").Text()
	stored, err := d.Convert(doc, from, d.group+"/"+d.store)
	if err != nil || path.Base(from) == d.store {
		return stored, err
	}
	t, err := d.typeAt(d.store)
	if err != nil {
		return doc, err
	}
	return t.Default(stored), nil
}

// Whole implements objects.Evolving. Somebody else has said at which version the object is.
func (d *definition) Whole(doc document.Value, to string) (document.Value, error) {
	from := doc.Get("apiVersion").Text()
	group, version, _ := strings.Cut(from, "/")
	if group != d.group {
		return doc, plainError(fmt.Errorf("%s is unstructured and is not suitable for converting to %q", kindText(doc), to))
	}
	if d.at(version) == nil {
		return doc, plainError(fmt.Errorf("request to convert CR from an invalid group/version: %s", from))
	}
	converted, err := d.converter.Convert(context.Background(), []document.Value{doc}, to)
	if err != nil {
		return doc, newConversionError(err)
	}
	return converted[0], nil
}

// Convert implements kinds.Definition.
func (d *definition) Convert(doc document.Value, from, to string) (document.Value, error) {
	if from == to {
		return doc, nil
	}
	if d.at(path.Base(to)) == nil {
		return doc, fmt.Errorf("convert %s from %s to %s: %w", d.name, from, to, apply.ErrVersionGone)
	}
	converted, err := d.convert(context.Background(), []document.Value{doc}, to)
	if err != nil {
		return doc, err
	}
	return converted[0], nil
}

// convert returns objects at another version: those before the first that can't be converted, and why it can't. What the
// schema of that version does not have is dropped.
func (d *definition) convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error) {
	t, err := d.typeAt(path.Base(to))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	converted, failed := d.converter.Convert(ctx, all, to)
	for i, doc := range converted {
		if converted[i], _, err = t.Read(doc); err != nil {
			return converted[:i], apierrors.NewInternalError(err)
		}
	}
	if failed != nil {
		return converted, newConversionError(failed)
	}
	return converted, nil
}
