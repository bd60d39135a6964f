package oracle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// quietEvery is of how many answers without a warning one is recorded.
const quietEvery = 40

// mostSent is how many warnings can be sent at most: what follows is cut off, and ours are not even made.
const mostSent = 256

// TestWarnings asks what clients are told about all objects, changed in one place and in several, compares that
// with our rules, and records what is worth it.
func TestWarnings(t *testing.T) {
	var verdicts bytes.Buffer
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"warned", "statuses", "objects"} {
		t.Run(of, func(t *testing.T) {
			asked, warnedOf := 0, 0
			for _, s := range samples(t, of) {
				w := warner{t: t, s: s, of: of}
				w.run(more[s.key()])
				asked, warnedOf = asked+w.asked, warnedOf+w.warned
				if of != "objects" { // there are many, and few that are warned of
					fmt.Fprintf(&verdicts, "object\t%s\t%s\n", s.typ, s.text)
					verdicts.Write(w.out.Bytes())
				}
			}
			t.Logf("%d answers, %d with warnings", asked, warnedOf)
		})
	}
	finish(t, "warnings.txt.gz", verdicts.Bytes())
}

// warner asks about the changes of one object.
type warner struct {
	t             *testing.T
	s             sample
	of            string
	typ           *builtin.Type
	out           bytes.Buffer
	asked, warned int
}

// run asks about all changes of the object, one by one and some at once.
func (w *warner) run(more []change) {
	s := w.s
	if w.typ, _ = builtin.Builtin("io.k8s.api." + s.typ); w.typ == nil {
		w.t.Errorf("there is no type %s", s.typ)
		return
	}
	w.ask(change{At: "/kind", Value: s.gvk.Kind})
	all := append(changes("", s.tree), more...)
	for _, c := range all {
		if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" {
			w.ask(c)
		}
	}
	random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
	for range *pairs {
		w.ask(all[random.IntN(len(all))], all[random.IntN(len(all))], all[random.IntN(len(all))])
	}
}

func (w *warner) ask(some ...change) {
	s := w.s
	object, text, ok := statusOf(s, some...)
	if !ok {
		return
	}
	now, err := document.ParseJSON(text)
	if err != nil {
		w.t.Fatal(err)
	}
	old, err := document.ParseJSON(s.text)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.of == "statuses" {
		if said, ok := askStatusWarnings(object, s.object, s.gvk); ok {
			w.compare("warn status", said.warnings, w.typ.StatusWarnings(now, old), some)
		}
		return
	}
	if said, ok := askWarnings(object, nil, s.gvk); ok {
		w.compare("warn create", said.warnings, append(w.typ.RequestWarnings(now), w.typ.Warnings(now, document.Value{})...), some)
	}
	if said, ok := askWarnings(object, s.object, s.gvk); ok {
		verb := fmt.Sprintf("warn update %d", said.generation)
		w.compare(verb, said.warnings, w.typ.Warnings(withGeneration(now, old, said.generation), old), some)
	}
}

// withGeneration gives an object its generation, if it is not the one that it had.
func withGeneration(now, old document.Value, n int64) document.Value {
	if was, _ := old.Lookup("metadata", "generation").Int64(); was == n {
		return now.With("metadata", withField(now.Get("metadata"), "generation", old.Lookup("metadata", "generation")))
	}
	return now.With("metadata", now.Get("metadata").With("generation", document.NewInt(n)))
}

func withField(m document.Value, name string, v document.Value) document.Value {
	if v.IsAbsent() {
		return m.Without(name)
	}
	return m.With(name, v)
}

func (w *warner) compare(verb string, theirs, ours []string, some []change) {
	w.asked++
	theirs = theirs[:min(len(theirs), mostSent)]
	if !slices.Equal(theirs, ours) {
		w.t.Errorf("%s %s %v:\n ours   %q\n theirs %q", verb, w.s.name, some, ours, theirs)
	}
	if len(theirs) > 0 {
		w.warned++
	}
	if len(some) == 1 && (len(theirs) > 0 || w.asked%quietEvery == 0) {
		fmt.Fprintf(&w.out, "%s\t%s\t%s\n", verb, some[0], strings.Join(theirs, "\t"))
	}
}
