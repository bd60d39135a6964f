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

// sampleInterval is the interval at which results without warnings are recorded: every 40th comparison.
const sampleInterval = 40

// maxWarnings is the maximum number of warnings that are compared: kube-apiserver truncates longer lists, and Cadastre
// does not generate more warnings.
const maxWarnings = 256

// TestWarnings compares Cadastre's warnings with kube-apiserver's, for all objects with changes at one path and at
// several paths, and records kube-apiserver's warnings.
func TestWarnings(t *testing.T) {
	var verdicts bytes.Buffer
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"warned", "statuses", "objects"} {
		t.Run(of, func(t *testing.T) {
			compared, warnedOf := 0, 0
			for _, s := range samples(t, of) {
				w := warner{t: t, s: s, of: of}
				w.run(more[s.key()])
				compared, warnedOf = compared+w.compared, warnedOf+w.warned
				if of != "objects" { // results for the folder objects are not recorded: there are many, with few warnings
					fmt.Fprintf(&verdicts, "object\t%s\t%s\n", s.typ, s.text)
					verdicts.Write(w.out.Bytes())
				}
			}
			t.Logf("%d results, %d with warnings", compared, warnedOf)
		})
	}
	finish(t, "warnings.txt.gz", verdicts.Bytes())
}

// warner compares the warnings about changes of one object.
type warner struct {
	t                *testing.T
	s                sample
	of               string
	typ              *builtin.Type
	out              bytes.Buffer
	compared, warned int
}

// run compares the warnings about each change of the object, and about combinations of three changes.
func (w *warner) run(more []change) {
	s := w.s
	if w.typ, _ = builtin.Builtin("io.k8s.api." + s.typ); w.typ == nil {
		w.t.Errorf("unknown type %s", s.typ)
		return
	}
	w.checkChanges(change{At: "/kind", Value: s.gvk.Kind})
	all := append(changes("", s.tree), more...)
	for _, c := range all {
		if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" {
			w.checkChanges(c)
		}
	}
	random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
	for range *pairs {
		w.checkChanges(all[random.IntN(len(all))], all[random.IntN(len(all))], all[random.IntN(len(all))])
	}
}

func (w *warner) checkChanges(some ...change) {
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
		if upstream, ok := upstreamStatusWarnings(object, s.object, s.gvk); ok {
			w.compare("warn status", upstream.warnings, w.typ.StatusWarnings(now, old), some)
		}
		return
	}
	if upstream, ok := upstreamWarnings(object, nil, s.gvk); ok {
		w.compare("warn create", upstream.warnings, append(w.typ.RequestWarnings(now), w.typ.Warnings(now, document.Value{})...), some)
	}
	if upstream, ok := upstreamWarnings(object, s.object, s.gvk); ok {
		verb := fmt.Sprintf("warn update %d", upstream.generation)
		w.compare(verb, upstream.warnings, w.typ.Warnings(withGeneration(now, old, upstream.generation), old), some)
	}
}

// withGeneration returns now, the updated object, with the generation n. If old has the generation n, or no generation
// and n is 0, the field is copied from old, and removed if old does not have it.
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

func (w *warner) compare(verb string, upstream, cadastre []string, some []change) {
	w.compared++
	upstream = upstream[:min(len(upstream), maxWarnings)]
	if !slices.Equal(upstream, cadastre) {
		w.t.Errorf("warnings about %s of %s with %v:\n got  %q\n want %q as kube-apiserver", verb, w.s.name, some, cadastre, upstream)
	}
	if len(upstream) > 0 {
		w.warned++
	}
	if len(some) == 1 && (len(upstream) > 0 || w.compared%sampleInterval == 0) {
		fmt.Fprintf(&w.out, "%s\t%s\t%s\n", verb, some[0], strings.Join(upstream, "\t"))
	}
}
