package strategic

import (
	"errors"
	"math/rand/v2"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/cadastre/cadastre/document"
)

// jsonOracle applies a patch with Kubernetes' library; panicked reports whether the library panicked.
func jsonOracle(object, patch document.Value, apply func(object, patch []byte) ([]byte, error)) (result document.Value, panicked bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = true
		}
	}()
	text, err := apply([]byte(object.JSON()), []byte(patch.JSON()))
	if err != nil {
		return document.Value{}, false, err
	}
	result, err = document.ParseJSON(text)
	return result, false, err
}

// applyOperations applies a JSON patch with Kubernetes' library.
func applyOperations(object, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	return operations.Apply(object)
}

// TestJSONMergeLikeKubernetes checks that random JSON merge patches have the same result as with Kubernetes' library.
func TestJSONMergeLikeKubernetes(t *testing.T) {
	for seed := range uint64(6_000) {
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
		object, patch := reparse(t, r.jsonMap(4)), reparse(t, r.jsonMap(4))
		want, _, wantErr := jsonOracle(object, patch, jsonpatch.MergePatch)
		got, err := MergeJSON(object, patch)
		if err != nil || wantErr != nil || !document.Equal(got, want) {
			t.Fatalf("seed %d:\nobject %s\npatch %s\ngot        %s, %v\nKubernetes %s, %v", seed, object, patch, got, err, want, wantErr)
		}
		if document.Equal(got, object) != document.Same(got, object) {
			t.Fatalf("seed %d:\nobject %s\npatch %s\na patch that changes nothing must return the object", seed, object, patch)
		}
	}
}

// TestJSONPatchLikeKubernetes checks that random JSON patches have the same result as with Kubernetes' library.
func TestJSONPatchLikeKubernetes(t *testing.T) {
	applied, panics := 0, 0
	for seed := range uint64(12_000) {
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
		object := reparse(t, r.jsonMap(4))
		patch := reparse(t, r.operations(object))
		want, panicked, wantErr := jsonOracle(object, patch, applyOperations)
		got, err := ApplyJSONPatch(object, patch)
		if panicked {
			panics++
			continue
		}
		if (err == nil) != (wantErr == nil) || err == nil && !document.Equal(got, want) {
			t.Fatalf("seed %d:\nobject %s\npatch %s\ngot        %s, %v\nKubernetes %s, %v", seed, object, patch, got, err, want, wantErr)
		}
		if err != nil {
			reason := Unprocessable
			if errors.Is(wantErr, jsonpatch.ErrTestFailed) {
				reason = TestFailed
			}
			if e, ok := err.(*Error); !ok || e.Reason != reason || e.Path == "" {
				t.Fatalf("seed %d: error = %#v, want an Error with reason %d and a path; the error of Kubernetes is %v", seed, err, reason, wantErr)
			}
			continue
		}
		applied++
		if document.Equal(got, object) != document.Same(got, object) {
			t.Fatalf("seed %d:\nobject %s\npatch %s\na patch that changes nothing must return the object", seed, object, patch)
		}
	}
	if applied < 1_500 || panics > 600 {
		t.Errorf("%d patches applied, want at least 1500; the oracle panicked %d times, want at most 600", applied, panics)
	}
	t.Logf("%d patches applied; the oracle panicked %d times", applied, panics)
}
