package strategic

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// FuzzMerge checks that merging never panics, errors contain the expected and received content, results are valid JSON,
// and merging is idempotent.
func FuzzMerge(f *testing.F) {
	for _, c := range mergeCases {
		f.Add(mustParse(f, c.object).JSON(), mustParse(f, c.patch).JSON())
	}
	for _, c := range errorCases {
		f.Add(mustParse(f, c.object).JSON(), mustParse(f, c.patch).JSON())
	}
	f.Fuzz(func(t *testing.T, objectText, patchText string) {
		object, err := document.ParseJSON(objectText)
		if err != nil || object.Kind() != document.Map {
			return
		}
		patch, err := document.ParseJSON(patchText)
		if err != nil {
			return
		}
		typ := mustType(t, pod)
		checkMergePlain(t, "fuzz", object, patch, typ)
		got, err := Merge(object, patch, typ)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Expected == "" || e.Received == "" {
				t.Fatalf("Merge() error = %v, want an Error with expected and received content", err)
			}
			return
		}
		if reparsed, err := document.ParseJSON(got.JSON()); err != nil || !document.Equal(reparsed, got) {
			t.Fatalf("Merge() = %s is not valid JSON: %v", got, err)
		}
		// The second merge may fail, because a list that the first one added may not be mergeable.
		if again, err := Merge(got, patch, typ); err == nil && !document.Equal(again, got) {
			t.Fatalf("merging twice changes the result:\nobject %s\npatch %s\nonce  %s\ntwice %s", object, patch, got, again)
		}
	})
}

// FuzzDiff checks that merging the patch that Diff returns turns the original into the modified object.
func FuzzDiff(f *testing.F) {
	for _, c := range mergeCases {
		f.Add(mustParse(f, c.object).JSON(), mustParse(f, c.result).JSON())
	}
	f.Fuzz(func(t *testing.T, originalText, modifiedText string) {
		original, err := document.ParseJSON(originalText)
		if err != nil || original.Kind() != document.Map || !isFreeOfDirectives(reparse(t, original)) {
			return
		}
		modified, err := document.ParseJSON(modifiedText)
		if err != nil || modified.Kind() != document.Map || !isFreeOfDirectives(reparse(t, modified)) {
			return
		}
		typ := mustType(t, pod)
		checkDiffPlain(t, "fuzz", ThreeWay{Type: typ}, versions{original, original, modified})
		patch, err := Diff(original, modified, typ)
		if err != nil {
			return
		}
		got, err := Merge(original, patch, typ)
		if err != nil || !document.Equal(got, modified) && !hasDuplicateScalars(modified) {
			t.Fatalf("merging the patch of Diff does not return modified:\noriginal %s\nmodified %s\npatch %s\ngot %s, %v", original, modified, patch, got, err)
		}
	})
}

// hasDuplicateScalars reports whether a value contains a list with duplicate scalars, which merging does not preserve.
func hasDuplicateScalars(v document.Value) bool {
	var ids identities
	for i := range v.Len() {
		item := v.At(i)
		if hasDuplicateScalars(item) {
			return true
		}
		if v.Kind() == document.List && item.IsScalar() && ids.add(identify(item)) != len(ids.all)-1 {
			return true
		}
	}
	return false
}

// FuzzJSONPatch checks that ApplyJSONPatch and Kubernetes' library return the same result for every patch that both
// accept.
func FuzzJSONPatch(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, `[{"op":"add","path":"/a/-","value":3},{"op":"move","from":"/a/0","path":"/c"}]`)
	f.Add(`{"a":{"x~y/z":1}}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/a/x~0y~1z"},{"op":"test","path":"/b","value":{"x~y/z":1}}]`)
	f.Add(`{}`, `[{"op":"replace","path":"","value":{}},null,{"op":1}]`)
	f.Fuzz(func(t *testing.T, objectText, patchText string) {
		object, err := document.ParseJSON(objectText)
		if err != nil || object.Kind() != document.Map {
			return
		}
		patch, err := document.ParseJSON(patchText)
		if err != nil {
			return
		}
		got, err := ApplyJSONPatch(object, patch)
		upstream, panicked, upstreamErr := jsonOracle(object, patch, applyOperations)
		if err != nil || panicked || upstreamErr != nil {
			return // docs/differences.md lists the patches that only one of the two libraries rejects
		}
		if !document.Equal(got, upstream) {
			t.Fatalf("object %s\npatch %s\ngot  %s\nwant %s as from Kubernetes", object, patch, got, upstream)
		}
	})
}
