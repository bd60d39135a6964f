package strategic

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cadastre/cadastre/document"
)

// mutate applies a random patch to an object and returns the result.
func (g *generator) mutate(t testing.TB, kind reflect.Type, object document.Value) document.Value {
	mutated, err := Merge(object, g.patch(kind, object, 9), mustType(t, kind))
	if err != nil {
		t.Fatal(err)
	}
	return reparse(t, mutated)
}

// TestDiffThenMerge: merging the patch that Diff returns turns the original into the modified object, with Merge and
// with strategicpatch. The patch between equal objects is empty.
func TestDiffThenMerge(t *testing.T) {
	for seed := range uint64(comparisons()) {
		kind := kinds[seed%uint64(len(kinds))]
		typ := mustType(t, kind)
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 4))}
		original := reparse(t, r.value(kind, "", 9))
		modified := r.mutate(t, kind, original)
		if r.chance(20) {
			modified = reparse(t, r.value(kind, "", 9))
		}
		patch, err := Diff(original, modified, typ)
		if err != nil {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\n%v", seed, kind, original, modified, err)
		}
		got, err := Merge(original, patch, typ)
		if err != nil || !document.Equal(got, modified) {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\npatch %s\nerror %v\n%s", seed, kind, original, modified, patch, err, firstDifference(got, modified, ""))
		}
		if got, err = oracle(original, patch, kind); isGoMapError(err) {
			continue
		}
		if err != nil || !document.Equal(got, modified) {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\npatch %s\nstrategicpatch: %v\n%s", seed, kind, original, modified, patch, err, firstDifference(got, modified, ""))
		}
		if again, err := Diff(modified, modified.With("kind", modified.Get("kind")), typ); err != nil || again.Len() > 0 {
			t.Fatalf("seed %d: Diff() of equal objects = %s, %v, want an empty patch", seed, again, err)
		}
	}
}

// TestThreeWayLikeKubernetes: the three-way patches of this package have the same effect and report the same conflicts
// as those of strategicpatch.
func TestThreeWayLikeKubernetes(t *testing.T) {
	conflicts, same := 0, 0
	for seed := range uint64(comparisons()) {
		kind := kinds[seed%uint64(len(kinds))]
		typ := mustType(t, kind)
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 5))}
		original := reparse(t, r.value(kind, "", 9))
		current, modified := r.mutate(t, kind, original), r.mutate(t, kind, original)
		if r.chance(20) {
			modified = original
		}
		want, wantErr := oracleThreeWay(original, modified, current, kind, true)
		if isGoMapError(wantErr) {
			continue
		}
		patch, err := ThreeWay{Type: typ, Overwrite: true}.Diff(original, modified, current)
		if err != nil || wantErr != nil {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\ncurrent %s\n%v\nKubernetes: %v", seed, kind, original, modified, current, err, wantErr)
		}
		result, err := Merge(current, patch, typ)
		if err != nil {
			t.Fatalf("seed %d, %v:\npatch %s\n%v", seed, kind, patch, err)
		}
		expected, err := Merge(current, want, typ) // merged with Merge, because strategicpatch leaves directives in new items
		if err != nil {
			t.Fatalf("seed %d, %v: merging the patch of strategicpatch %s: %v", seed, kind, want, err)
		}
		result, expected = sortScalars(result), sortScalars(expected)
		if !document.Equal(result, expected) {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\ncurrent %s\npatch      %s\nKubernetes %s\n%s", seed, kind, original, modified, current, patch, want,
				firstDifference(result, expected, ""))
		}
		if document.Equal(patch, want) {
			same++
		}
		_, wantErr = oracleThreeWay(original, modified, current, kind, false)
		_, err = ThreeWay{Type: typ}.Diff(original, modified, current)
		var c *ConflictError
		isConflict := errors.As(err, &c)
		switch {
		case wantErr != nil && !mergepatch.IsConflict(wantErr):
			continue // strategicpatch returns an error when it compares some patches
		case isConflict && wantErr == nil && c.Wanted.Kind() == document.List:
			continue // strategicpatch compares lists of scalars as sets, and ignores some lists of maps
		case isConflict && wantErr == nil && c.Wanted.Kind() == document.Map:
			continue // see TestDifferenceReplacedMapsConflict
		case err == nil && wantErr != nil && hasUnchangedReplaced(typ, original, current):
			continue // see TestDifferenceUnchangedReplacedMaps
		}
		if err != nil && !isConflict || isConflict != (wantErr != nil) {
			t.Fatalf("seed %d, %v:\noriginal %s\nmodified %s\ncurrent %s\npatch %s\nerror %v\nKubernetes: %v", seed, kind, original, modified, current, patch, err, wantErr)
		}
		if wantErr != nil {
			conflicts++
		}
	}
	t.Logf("%d conflicts; %d patches equal those of strategicpatch", conflicts, same)
}

// hasUnchangedReplaced reports whether two maps contain, at the same path, equal maps with the patch strategy replace.
func hasUnchangedReplaced(t *Type, a, b document.Value) bool {
	for name, value := range a.Fields() {
		f, other := t.field(name), b.Get(name)
		if value.Kind() != document.Map || other.Kind() != document.Map {
			continue
		}
		if f.replace && document.Equal(value, other) || hasUnchangedReplaced(f.typ, value, other) {
			return true
		}
	}
	return false
}

// sortScalars sorts the lists of scalars in a value. strategicpatch sorts them before it compares their order, and
// would otherwise report changes of the order that do not exist.
func sortScalars(v document.Value) document.Value {
	switch v.Kind() {
	case document.Map:
		var fields []document.Field
		for name, value := range v.Fields() {
			fields = append(fields, document.Field{Name: name, Value: sortScalars(value)})
		}
		return document.NewMap(fields...)
	case document.List:
		var items []document.Value
		for _, item := range v.Items() {
			items = append(items, sortScalars(item))
		}
		if len(items) > 0 && items[0].IsScalar() {
			slices.SortFunc(items, document.Compare)
		}
		return document.NewList(items...)
	}
	return v
}

// oracleThreeWay returns the three-way patch that strategicpatch computes.
func oracleThreeWay(original, modified, current document.Value, kind reflect.Type, overwrite bool) (document.Value, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(reflect.New(kind).Interface())
	if err != nil {
		return document.Value{}, err
	}
	text, err := strategicpatch.CreateThreeWayMergePatch([]byte(original.JSON()), []byte(modified.JSON()), []byte(current.JSON()), meta, overwrite)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSON(text)
}
