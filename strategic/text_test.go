package strategic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// The tests of this file check that AppendMerge and AppendDiff return the same results as Merge and Diff, although they
// reuse the memory of previous calls.

// compareAppend fails the test if the result or error of AppendMerge or AppendDiff differs from that of Merge or
// Diff.
func compareAppend(t testing.TB, what string, want document.Value, wantErr error, got []byte, err error) {
	t.Helper()
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: error from JSON = %v\nwant the error from documents: %v", what, err, wantErr)
	}
	if err == nil && string(got) != want.JSON() {
		t.Fatalf("%s: result from JSON\n%s\nwant the result from documents\n%s", what, got, want.JSON())
	}
}

func TestAppendEqualsDocuments(t *testing.T) {
	for seed := range uint64(comparisons()) {
		kind := kinds[seed%uint64(len(kinds))]
		typ := mustType(t, kind)
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 8))}
		original := reparse(t, r.value(kind, "", 9))
		modified, current := r.mutate(t, kind, original), r.mutate(t, kind, original)
		patch := reparse(t, r.patch(kind, original, 9))

		want, wantErr := Merge(original, patch, typ)
		got, err := AppendMerge(nil, original.JSON(), patch.JSON(), typ)
		compareAppend(t, fmt.Sprintf("seed %d, merge", seed), want, wantErr, got, err)

		want, wantErr = Diff(original, modified, typ)
		got, err = AppendDiff(nil, original.JSON(), modified.JSON(), typ)
		compareAppend(t, fmt.Sprintf("seed %d, diff", seed), want, wantErr, got, err)

		w := ThreeWay{Type: typ, Overwrite: r.chance(50), Immutable: KubectlImmutable()}
		want, wantErr = w.Diff(original, modified, current)
		got, err = w.AppendDiff(nil, original.JSON(), modified.JSON(), current.JSON())
		compareAppend(t, fmt.Sprintf("seed %d, three-way", seed), want, wantErr, got, err)
	}
}

// TestAppendMergeManagedFields: AppendMerge does not reorder the names of fieldsV1, unless the patch contains
// managedFields.
func TestAppendMergeManagedFields(t *testing.T) {
	const live = `{"metadata":{"managedFields":[{"fieldsV1":{"f:b":{},"f:a":{"f:c":{}}},"manager":"a"}],"name":"x"}}`
	for patch, want := range map[string]string{
		`{"metadata":{"name":"y"}}`:                      strings.Replace(live, `"x"`, `"y"`, 1),
		`{"metadata":{"managedFields":null}}`:            `{"metadata":{"name":"x"}}`,
		`{"metadata":{"managed\u0046ields":[]}}`:         `{"metadata":{"managedFields":[],"name":"x"}}`,
		`{"metadata":{"$patch":"replace","name":"z"}}`:   `{"metadata":{"name":"z"}}`,
		`{"metadata":{"$retainKeys":["name"]}}`:          `{"metadata":{"name":"x"}}`,
		`{"metadata":{"managedFields":{"a":{"b":"c"}}}}`: `{"metadata":{"managedFields":{"a":{"b":"c"}},"name":"x"}}`,
	} {
		got, err := AppendMerge([]byte("> "), live, patch, mustType(t, pod))
		if err != nil || string(got) != "> "+want {
			t.Errorf("patch %s: AppendMerge() = %s, %v\nwant %s", patch, got, err, want)
		}
	}
}

// TestAppendMergeManagedFieldsMap: a managedFields that is a map instead of a list is merged like any other map,
// although fieldsV1 below managedFields usually stays unparsed.
func TestAppendMergeManagedFieldsMap(t *testing.T) {
	const live = `{"metadata":{"managedFields":{"*":{"fieldsV1":{"a":{"b":"c"}}}}}}`
	got, err := AppendMerge(nil, live, `{"metadata":{"managedFields":{"*":{"fieldsV1":{"d":"e"}}}}}`, nil)
	if want := `{"metadata":{"managedFields":{"*":{"fieldsV1":{"a":{"b":"c"},"d":"e"}}}}}`; err != nil || string(got) != want {
		t.Errorf("AppendMerge() = %s, %v\nwant %s", got, err, want)
	}
}

// TestAppendErrorOutlivesMemory: later calls, which reuse memory, do not overwrite the values in an error.
func TestAppendErrorOutlivesMemory(t *testing.T) {
	typ := mustType(t, deployment)
	_, err := ThreeWay{Type: typ}.AppendDiff(nil, `{"spec":{"replicas":1}}`, `{"spec":{"replicas":2}}`, `{"spec":{"replicas":5}}`)
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("AppendDiff() error = %v, want a conflict", err)
	}
	before := err.Error()
	for range 100 {
		if _, err := (ThreeWay{Type: typ}).AppendDiff(nil, ``, `{"spec":{"paused":true,"replicas":7}}`, `{"spec":{"x":[8]}}`); err != nil {
			t.Fatal(err)
		}
	}
	if err.Error() != before || conflict.Changed.JSON() != "5" {
		t.Errorf("a later call changed Error() from %q to %q", before, err)
	}
}

func TestAppendSyntaxErrors(t *testing.T) {
	for what, call := range map[string]func() ([]byte, error){
		"patch":    func() ([]byte, error) { return AppendMerge(nil, `{}`, `{"a":}`, nil) },
		"object":   func() ([]byte, error) { return AppendMerge(nil, `{"a":}`, `{}`, nil) },
		"original": func() ([]byte, error) { return AppendDiff(nil, `{"a":}`, `{}`, nil) },
		"modified": func() ([]byte, error) { return ThreeWay{}.AppendDiff(nil, ``, `{"a":}`, `{}`) },
	} {
		var e *document.SyntaxError
		if _, err := call(); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), what+": ") {
			t.Errorf("%s: error = %v, want a SyntaxError", what, err)
		}
	}
}

// TestAppendConcurrently: concurrent calls do not share scratch memory.
func TestAppendConcurrently(t *testing.T) {
	typ := mustType(t, pod)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			object, patch := envPod(n+10, false).JSON(), envPod(n+10, true).JSON()
			want, err := AppendMerge(nil, object, patch, typ)
			for range 200 {
				got, err := AppendMerge(nil, object, patch, typ)
				if err != nil || string(got) != string(want) {
					t.Errorf("AppendMerge() = %s, %v, want %s", got, err, want)
					return
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
