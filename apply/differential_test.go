package apply

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

var (
	histories = flag.Int("histories", 1500, "number of random histories to compare with structured-merge-diff")
	firstSeed = flag.Uint64("seed", 1, "seed of the first random history")
)

// randomKind is a kind with a random schema and two versions, for the fast engine, the plain engine and
// structured-merge-diff.
type randomKind struct {
	types  map[string]*schema.Type
	oracle *oracle
	fast   *Engine
	plain  *Engine
	// invalid makes some updates store documents that do not conform to the schema.
	invalid bool
}

// Type implements Versions.
func (k *randomKind) Type(version string) (*schema.Type, bool) {
	t, ok := k.types[version]
	return t, ok
}

// Convert implements Versions.
func (k *randomKind) Convert(doc document.Value, from, to string) (document.Value, error) {
	return convertFieldNames(doc, from, to), nil
}

// convertFieldNames converts a document between versions: versions of a randomKind differ in the names of the root's fields.
func convertFieldNames(doc document.Value, from, to string) document.Value {
	var fields []document.Field
	for name, v := range doc.Fields() {
		name = strings.TrimSuffix(name, from)
		if isLetter(name) && to != "v1" {
			name += to
		}
		fields = append(fields, document.Field{Name: name, Value: v})
	}
	return document.NewMap(fields...)
}

// isLetter reports whether a name is one of the letters in fieldNames.
func isLetter(name string) bool { return len(name) == 1 && name[0] >= 'a' && name[0] <= 'e' }

// newRandomKind returns a kind with a random schema and the versions v1 and v2.
func newRandomKind(g generator) *randomKind {
	s := g.schema()
	w := &randomKind{types: map[string]*schema.Type{"v1": translate(s)}}
	schemas := map[string]*smd.Schema{"v1": s, "v2": renameRootFields(s, "v2")}
	w.types["v2"] = translate(schemas["v2"])
	w.oracle = newOracle(schemas, nil, convertFieldNames)
	w.fast = mustEngine(Options{Versions: w, MaxUpdateEntries: 1000})
	w.plain = mustEngine(Options{Versions: w, MaxUpdateEntries: 1000, plain: true})
	return w
}

// renameRootFields returns a copy of s with a new root type, in whose field names it appends suffix. References to the old
// root type are unchanged.
func renameRootFields(s *smd.Schema, suffix string) *smd.Schema {
	root := smd.TypeDef{Name: "T0", Atom: smd.Atom{Map: &smd.Map{ElementType: s.Types[0].Map.ElementType}}}
	for _, f := range s.Types[0].Map.Fields {
		f.Name += suffix
		root.Map.Fields = append(root.Map.Fields, f)
	}
	return &smd.Schema{Types: append([]smd.TypeDef{root}, s.Types[1:]...)}
}

// step is one request of a history.
type step struct {
	update  bool
	doc     document.Value
	request Request
}

func (s step) String() string {
	op := "apply"
	if s.update {
		op = "update"
	}
	return fmt.Sprintf("%s by %s at %s force=%v: %v", op, s.request.Manager, s.request.Version, s.request.Force, s.doc)
}

// historyStats counts the steps of histories, and the steps that were accepted.
type historyStats struct{ steps, accepted int }

// runHistory runs the given number of random requests (steps), each at one of the versions. It compares the fast engine with
// the plain engine and, if strict is true, with structured-merge-diff, too. Strict histories contain no empty granular lists
// and no invalid documents. Each step starts from the fast engine's result, so a difference does not affect later steps.
func runHistory(g generator, steps int, versions []string, strict bool) (historyStats, error) {
	var p historyStats
	kind := newRandomKind(g)
	kind.invalid = !strict
	var live Object // always at version v1
	configs := map[string]document.Value{}
	for ; p.steps < steps; p.steps++ {
		s := kind.step(g, live, configs, versions, strict)
		liveAtVersion := live
		if !live.Document.IsAbsent() {
			liveAtVersion.Document = convertFieldNames(live.Document, "v1", s.request.Version)
		}
		result, err := kind.compareStep(liveAtVersion, s, strict)
		if err != nil {
			return p, fmt.Errorf("step %d: %w\nlive %v\n  entries %v\n  %v", p.steps, err, liveAtVersion.Document, liveAtVersion.Entries, s)
		}
		if result == nil {
			continue // the request was rejected by both engines and by structured-merge-diff
		}
		p.accepted++
		if !s.update {
			configs[s.request.Manager] = convertFieldNames(s.doc, s.request.Version, "v1")
		}
		live = Object{convertFieldNames(result.Document, s.request.Version, "v1"), result.Entries}
		if strict {
			live.Document = withoutEmptyLists(kind.types["v1"], live.Document)
		}
	}
	return p, nil
}

// compareStep runs the request s on both engines and compares the results; if strict is true, it also compares them with
// structured-merge-diff. It returns the resulting object, or nil if the engines agree that the request is invalid or
// conflicts.
func (k *randomKind) compareStep(live Object, s step, strict bool) (*Object, error) {
	ours, err := s.run(k.fast, live)
	plain, errPlain := s.run(k.plain, live)
	runOracle := k.oracle.apply
	if s.update {
		runOracle = k.oracle.update
	}
	if d := diffOutcomes(engineOutcome(plain, errPlain), runOracle(live, s.doc, s.request), live.Entries); d != "" && strict {
		return nil, fmt.Errorf("the plain engine differs from structured-merge-diff:\n%s", d)
	}
	if formatObject(ours.Object) != formatObject(plain.Object) || ours.NoOp != plain.NoOp || fmt.Sprint(err) != fmt.Sprint(errPlain) {
		return nil, fmt.Errorf("the engines differ:\nfast: NoOp=%v, error %v\n%s\nplain: NoOp=%v, error %v\n%s",
			ours.NoOp, err, formatObject(ours.Object), plain.NoOp, errPlain, formatObject(plain.Object))
	}
	if err != nil {
		return nil, nil
	}
	if same := formatObject(ours.Object) == formatObject(live); ours.NoOp != same {
		return nil, fmt.Errorf("NoOp=%v, want %v\n%s", ours.NoOp, same, formatObject(ours.Object))
	}
	if s.update {
		return &ours.Object, nil
	}
	again, err := k.fast.Apply(ours.Object, s.doc, s.request)
	// An object without managed fields entries gets the entry before-first-apply in the next request.
	tracked := len(ours.Object.Entries) > 0
	if err != nil || tracked && !again.NoOp {
		return nil, fmt.Errorf("the second Apply() is not a no-op: error %v\nfirst result %v\nsecond result %v", err, ours.Object, again.Object)
	}
	return &ours.Object, nil
}

// step returns a random request. Its document is often a mutation of the live object or of the manager's last configuration in
// configs.
func (k *randomKind) step(g generator, live Object, configs map[string]document.Value, versions []string, strict bool) step {
	s := step{update: g.chance(35)}
	s.request = Request{
		Manager: pick(g, "m1", "m2", "m3"),
		Version: versions[g.IntN(len(versions))],
		Time:    time.Unix(1_700_000_000, 0).UTC(),
		Force:   g.chance(50),
	}
	t := k.types["v1"]
	switch config, applied := configs[s.request.Manager]; {
	case s.update && g.chance(70) && !live.Document.IsAbsent():
		s.doc = g.mutate(t, live.Document, true)
	case !s.update && applied && g.chance(60):
		s.doc = g.mutate(t, config, false)
	case !s.update && !live.Document.IsAbsent() && g.chance(30):
		s.doc = g.mutate(t, live.Document, false)
		if err := validate(t, document.Value{}, s.doc, false); err != nil {
			s.doc = g.value(t, 0, false)
		}
	default:
		s.doc = g.value(t, 0, s.update)
	}
	if strict {
		s.doc = withoutEmptyLists(t, s.doc)
	} else if k.invalid && s.update && g.chance(15) {
		s.doc = s.doc.With(pick(g, fieldNames...), g.value(schema.Opaque, 2, true))
	}
	s.doc = convertFieldNames(s.doc, "v1", s.request.Version)
	return s
}

// reproduceCommand returns the command that repeats the history with the given seed.
func reproduceCommand(seed uint64) string {
	return fmt.Sprintf("reproduce with: go test ./apply -seed %d -histories 1", seed)
}

// TestDifferential compares the engine with structured-merge-diff on random histories, with one version and with two
// versions.
func TestDifferential(t *testing.T) {
	for _, versions := range [][]string{{"v1"}, {"v1", "v2"}} {
		t.Run(strings.Join(versions, "+"), func(t *testing.T) {
			var total historyStats
			for seed := *firstSeed; seed < *firstSeed+uint64(*histories); seed++ {
				p, err := runHistory(newGenerator(seed), 12, versions, seed%4 != 0)
				if err != nil {
					t.Fatalf("%v\n%s", err, reproduceCommand(seed))
				}
				total.steps, total.accepted = total.steps+p.steps, total.accepted+p.accepted
			}
			t.Logf("%d steps agree, %d accepted", total.steps, total.accepted)
			if total.accepted < total.steps/2 && *histories >= 100 { // a single history may have mostly rejected requests
				t.Errorf("%d of %d requests were accepted, want at least half; change the generator", total.accepted, total.steps)
			}
		})
	}
}

// TestTranslatedSchemaFits checks the generator: random values are valid for the engine and for
// structured-merge-diff, and have the same field set.
func TestTranslatedSchemaFits(t *testing.T) {
	for seed := range uint64(300) {
		g := newGenerator(seed)
		kind := newRandomKind(g)
		v := g.value(kind.types["v1"], 0, false)
		if err := validate(kind.types["v1"], document.Value{}, v, false); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, v)
		}
		if _, err := kind.oracle.typed(v, "v1"); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, v)
		}
		if ours, upstream := fieldsOf(kind.types["v1"], v), smdFields(kind, v); ours.FieldsV1() != upstream {
			t.Fatalf("seed %d: %v\nfield set of the engine: %s\nwant the field set of structured-merge-diff: %s", seed, v, ours.FieldsV1(), upstream)
		}
		back, err := fieldset.ParseFieldsV1(fieldsOf(kind.types["v1"], v).FieldsV1())
		if err != nil || !back.Equal(fieldsOf(kind.types["v1"], v)) {
			t.Fatalf("seed %d: FieldsV1 does not round-trip: %v", seed, err)
		}
	}
}

// smdFields returns the FieldsV1 that structured-merge-diff computes for the document v, or the text of its error.
func smdFields(w *randomKind, v document.Value) string {
	tv, err := w.oracle.typed(v, "v1")
	if err != nil {
		return err.Error()
	}
	set, err := tv.ToFieldSet()
	if err != nil {
		return err.Error()
	}
	text, err := set.ToJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// FuzzHistory is TestDifferential with seeds chosen by the fuzzer.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, versions := range [][]string{{"v1"}, {"v1", "v2"}} {
			if _, err := runHistory(newGenerator(seed), 12, versions, seed%4 != 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}
