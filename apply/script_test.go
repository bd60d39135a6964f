package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// This file defines script, which runs requests on one object, by default of testKind:
//
//	s := newScript(t)
//	s.apply("ci", `number: 1`)
//	s.conflict("ops", `number: 2`, `.number ci`)
//	s.force("ops", `number: 2`)
//	s.want(`number: 2`)
//	s.wantOwners("ops .number")
//
// Every request runs on the fast engine and on the plain engine, and also on structured-merge-diff if that supports the
// request; the results must be equal. A request must not modify its inputs.

// script runs requests on one object.
type script struct {
	*testing.T
	fast, plain *Engine
	oracle      *oracle // nil disables the comparison with structured-merge-diff
	live        Object
	now         time.Time
	// version and subresource are used for the following requests.
	version, subresource string
	// created and admitted are Request.Created and Request.Admitted of all requests.
	created, admitted func(document.Value) document.Value
	last              Request
}

// newScript returns a script whose object does not exist yet. The default options enable unset markers.
func newScript(t *testing.T, options ...Options) *script {
	t.Helper()
	o := Options{Unset: true}
	if len(options) > 0 {
		o = options[0]
	}
	s := &script{T: t, version: "v1", now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.fast = mustEngine(o)
	if o.Versions == nil && o.Reset == nil {
		s.oracle = testOracle
	}
	o.plain = true
	s.plain = mustEngine(o)
	return s
}

func (s *script) request(manager string) Request {
	s.now = s.now.Add(time.Minute)
	return Request{Manager: manager, Version: s.version, Subresource: s.subresource, Time: s.now, Created: s.created, Admitted: s.admitted}
}

// run calls f, which sends the request called name, on both engines, with the live object and the document in yaml. It
// fails the test if the engines differ or if an invariant of all requests is violated. It does not store the result in
// s.live.
func (s *script) run(name string, f func(e *Engine, live Object, doc document.Value) (Result, error), yaml string) (Result, error) {
	s.Helper()
	doc := parse(yaml)
	docBefore, liveBefore := doc.String(), formatObject(s.live)
	result, err := f(s.fast, s.live, doc)
	plainResult, plainErr := f(s.plain, s.live, doc)
	if doc.String() != docBefore || formatObject(s.live) != liveBefore {
		s.Fatalf("%s modified its input:\ndocument %s\nlive %s\nbefore the request:\ndocument %s\nlive %s", name, doc, formatObject(s.live), docBefore, liveBefore)
	}
	if fmt.Sprint(err) != fmt.Sprint(plainErr) {
		s.Fatalf("%s: error of the fast engine: %v\nof the plain engine: %v", name, err, plainErr)
	}
	s.compareWithOracle(name, doc, result, err)
	if err != nil {
		return result, err
	}
	if formatObject(result.Object) != formatObject(plainResult.Object) || result.NoOp != plainResult.NoOp {
		s.Fatalf("%s: fast engine: NoOp=%v\n%s\nplain engine: NoOp=%v\n%s", name,
			result.NoOp, formatObject(result.Object), plainResult.NoOp, formatObject(plainResult.Object))
	}
	checkResult(s.T, s.live, result)
	return result, nil
}

// compareWithOracle compares the result of the last request with that of structured-merge-diff, unless the request uses
// features that structured-merge-diff does not support.
func (s *script) compareWithOracle(name string, doc document.Value, result Result, err error) {
	s.Helper()
	if s.oracle == nil || strings.Contains(doc.String(), UnsetMarkerKey) || isUntracked(s.live) || len(s.last.ForcePaths) > 0 {
		return
	}
	runOracle := s.oracle.apply
	if name == "update" {
		runOracle = s.oracle.update
	} else if checkConfiguration(doc, s.last) != nil || checkDocuments(s.live, doc, s.last) != nil {
		return // Kubernetes rejects the request before it calls structured-merge-diff
	}
	ours, upstream := engineOutcome(result, err), runOracle(s.live, doc, s.last)
	for _, out := range []outcome{ours, upstream} {
		for manager, set := range out.owners {
			// structured-merge-diff itself has no untracked fields.
			version, text, _ := strings.Cut(set, " ")
			fields, _ := fieldset.ParseFieldsV1(text)
			if fields = fields.Difference(untrackedFields); fields.IsEmpty() {
				delete(out.owners, manager)
				continue
			}
			out.owners[manager] = version + " " + fields.FieldsV1()
		}
	}
	if d := diffOutcomes(ours, upstream, s.live.Entries); d != "" {
		s.Errorf("%s differs from structured-merge-diff:\n%s\nlive:\n%s", name, d, formatObject(s.live))
	}
}

// checkResult checks the invariants that hold for every result.
func checkResult(t *testing.T, live Object, result Result) {
	t.Helper()
	if result.NoOp != (formatObject(live) == formatObject(result.Object) && !live.Document.IsAbsent()) {
		t.Errorf("NoOp=%v, object before:\n%s\nafter:\n%s", result.NoOp, formatObject(live), formatObject(result.Object))
	}
	if result.NoOp && (!result.Changes().IsEmpty() || !document.Same(live.Document, result.Object.Document) ||
		!sameBackingArray(live.Entries, result.Object.Entries)) {
		t.Errorf("a no-op must return the live object without changes; changes: %v", result.Changes())
	}
	for _, e := range result.Object.Entries {
		fields, err := e.Fields()
		if err != nil || fields.FieldsV1() != e.FieldsV1 {
			t.Errorf("FieldsV1 of %s does not round-trip: %v\n%s\n%s", e.Manager, err, e.FieldsV1, fields.FieldsV1())
		}
		if fields.IsEmpty() && !result.NoOp {
			t.Errorf("entry of %s is empty", e.Manager)
		}
	}
	if !slices.IsSortedFunc(result.Object.Entries, compareEntries) && !sameBackingArray(live.Entries, result.Object.Entries) {
		t.Errorf("entries are not sorted: %v", result.Object.Entries)
	}
	object := result.Object
	if object.Document.Get("metadata").IsAbsent() {
		object.Document = object.Document.With("metadata", document.NewMap()) // encoding managedFields requires metadata
	}
	again, err := ReadObject(object.AppendJSON(nil))
	if err != nil || formatObject(again) != formatObject(object) {
		t.Errorf("the object does not round-trip: %v\n%s\n%s", err, formatObject(object), formatObject(again))
	}
}

// sameBackingArray reports whether two slices have the same length and share their memory.
func sameBackingArray(a, b []Entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// formatObject formats an object with its entries.
func formatObject(o Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", o.Document)
	for _, e := range o.Entries {
		fmt.Fprintf(&b, "%s %s\n", e.appendManager(nil), e.FieldsV1)
	}
	return b.String()
}

// tryApply runs an apply request on s.live and returns its result. Unlike apply, it does not make the result the live
// object, and the request may fail.
func (s *script) tryApply(manager, config string, force bool, paths ...string) (Result, error) {
	s.Helper()
	r := s.request(manager)
	r.Force = force
	for _, path := range paths {
		r.ForcePaths = append(r.ForcePaths, mustPath(path))
	}
	s.last = r
	return s.run("apply", func(e *Engine, live Object, doc document.Value) (Result, error) { return e.Apply(live, doc, r) }, config)
}

// tryUpdate runs an update request on s.live and returns its result. Unlike update, it does not make the result the
// live object, and the request may fail.
func (s *script) tryUpdate(manager, updated string) (Result, error) {
	s.Helper()
	r := s.request(manager)
	s.last = r
	return s.run("update", func(e *Engine, live Object, doc document.Value) (Result, error) { return e.Update(live, doc, r) }, updated)
}

// mustSucceed fails the test if the request failed, and makes its result the live object.
func (s *script) mustSucceed(result Result, err error) Result {
	s.Helper()
	if err != nil {
		s.Fatalf("request failed: %v\nlive:\n%s", err, formatObject(s.live))
	}
	s.live = result.Object
	return result
}

// apply applies a configuration that must not conflict.
func (s *script) apply(manager, config string) Result {
	s.Helper()
	return s.mustSucceed(s.tryApply(manager, config, false))
}

// force applies a configuration and takes over the conflicting fields at or below the paths, or all conflicting fields
// if there are no paths.
func (s *script) force(manager, config string, paths ...string) Result {
	s.Helper()
	return s.mustSucceed(s.tryApply(manager, config, len(paths) == 0, paths...))
}

// update replaces the live document.
func (s *script) update(manager, updated string) Result {
	s.Helper()
	return s.mustSucceed(s.tryUpdate(manager, updated))
}

// noOp applies a configuration that must be a no-op.
func (s *script) noOp(manager, config string) {
	s.Helper()
	if result := s.apply(manager, config); !result.NoOp {
		s.Errorf("NoOp = false, want true:\n%s", formatObject(s.live))
	}
}

// conflict applies a configuration that must conflict. Each wanted conflict is a path and the names of the owners:
// ".number ci,ops/Update". The live object does not change.
func (s *script) conflict(manager, config string, want ...string) *ConflictError {
	s.Helper()
	_, err := s.tryApply(manager, config, false)
	return s.wantConflicts(err, want...)
}

// wantConflicts checks that the error is a ConflictError with exactly the wanted conflicts.
func (s *script) wantConflicts(err error, want ...string) *ConflictError {
	s.Helper()
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		s.Fatalf("error = %v, want a ConflictError with %q\nlive:\n%s", err, want, formatObject(s.live))
	}
	var got []string
	for _, c := range conflict.Conflicts {
		names := make([]string, len(c.Owners))
		for i, owner := range c.Owners {
			names[i] = entryName(owner)
		}
		got = append(got, c.Path.String()+" "+strings.Join(names, ","))
	}
	if !slices.Equal(got, want) {
		s.Errorf("conflicts:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return conflict
}

// invalid applies a configuration that must be rejected. It checks that the InvalidError has exactly these paths, and
// that its text contains the parts.
func (s *script) invalid(manager, config string, paths []string, parts ...string) {
	s.Helper()
	_, err := s.tryApply(manager, config, true)
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		s.Fatalf("Apply() error = %v, want an InvalidError", err)
	}
	var got []string
	for _, f := range invalid.Fields {
		got = append(got, f.Path.String())
	}
	if !slices.Equal(got, paths) {
		s.Errorf("paths of errors = %q, want %q:\n%v", got, paths, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			s.Errorf("error does not contain %q:\n%v", part, err)
		}
	}
}

// want checks that the live document equals the YAML document. null, {}, [] and absent fields are different, and the
// order of list items matters.
func (s *script) want(yaml string) {
	s.Helper()
	if want := parse(yaml); !document.Equal(s.live.Document, want) {
		s.Errorf("document =\n%v\nwant\n%v", s.live.Document, want)
	}
}

// wantOwners checks all managed fields entries, in any order. Each wanted entry is its entryName and the paths of its
// field set: `ci .number .items[name="a"]{,.name}`.
func (s *script) wantOwners(want ...string) {
	s.Helper()
	got := map[string]string{}
	for _, e := range s.live.Entries {
		fields, err := e.Fields()
		if err != nil {
			s.Fatal(err)
		}
		got[entryName(e)] = fields.String()
	}
	for _, line := range want {
		name, paths, _ := strings.Cut(strings.TrimSpace(line), " ")
		if fields := pathSet(paths).String(); got[name] != fields {
			s.Errorf("%s owns\n%swant\n%s", name, got[name], fields)
		}
		delete(got, name)
	}
	for name, fields := range got {
		s.Errorf("%s owns\n%swant no entry", name, fields)
	}
}

// entryName returns a short name of an entry: its manager, "/Update" if that is its operation, "@" and the version if
// the version is not v1, ":" and the subresource if there is one.
func entryName(e Entry) string {
	name := e.Manager
	if e.Operation == Update {
		name += "/Update"
	}
	if e.APIVersion != "v1" {
		name += "@" + e.APIVersion
	}
	if e.Subresource != "" {
		name += ":" + e.Subresource
	}
	return name
}

// pathSet parses paths separated by spaces. A path that ends in {x,y} abbreviates two paths, one ending in x and one
// ending in y.
func pathSet(paths string) fieldset.Set {
	var all []fieldset.Path
	for _, field := range strings.Fields(paths) {
		prefix, suffixes, hasSuffixes := strings.Cut(field, "{")
		if !hasSuffixes {
			all = append(all, mustPath(field))
			continue
		}
		for _, suffix := range strings.Split(strings.TrimSuffix(suffixes, "}"), ",") {
			all = append(all, mustPath(prefix+suffix))
		}
	}
	return fieldset.New(all...)
}

func mustPath(text string) fieldset.Path {
	p, err := fieldset.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// entry returns the entry with the given entryName, which must exist.
func (s *script) entry(name string) Entry {
	s.Helper()
	i := slices.IndexFunc(s.live.Entries, func(e Entry) bool { return entryName(e) == name })
	if i < 0 {
		s.Fatalf("%s has no entry:\n%s", name, formatObject(s.live))
	}
	return s.live.Entries[i]
}

// extract returns the extracted configuration of an applier.
func (s *script) extract(manager string) document.Value {
	s.Helper()
	config, err := s.fast.Extract(s.live, Request{Manager: manager, Version: s.version, Subresource: s.subresource})
	if err != nil {
		s.Fatal(err)
	}
	return config
}
