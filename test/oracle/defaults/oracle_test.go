package defaults

import (
	"bytes"
	"compress/gzip"
	_ "embed" // cases.txt is embedded
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

var (
	write = flag.Bool("write", false, "write documents that passed to the golden file of internal/api/builtin")
	count = flag.Int("count-each", 300, "`number` of random documents per kind")
	seed  = flag.Uint64("seed", 1, "`seed` of the random documents")
)

//go:embed cases.txt
var cases string

// kind is a GroupVersionKind with Cadastre's description of its type.
type kind struct {
	schema.GroupVersionKind
	*builtin.Type
}

func allKinds(t *testing.T) (all []kind) {
	add := func(group, version, name string) {
		of, ok := builtin.Builtin(api.TypeName(group, version, name))
		if !ok {
			t.Fatalf("%s/%s %s: internal/api/builtin has no type for the kind", group, version, name)
		}
		all = append(all, kind{schema.GroupVersionKind{Group: group, Version: version, Kind: name}, of})
	}
	for _, k := range api.Builtin() {
		for _, version := range k.Versions {
			add(k.Group, version, k.Name)
		}
	}
	add("autoscaling", "v1", "Scale")
	add("policy", "v1", "Eviction")
	add("authentication.k8s.io", "v1", "TokenRequest")
	return all
}

func TestRandom(t *testing.T) {
	for _, k := range allKinds(t) {
		t.Run(k.Name, func(t *testing.T) {
			var golden golden
			for i := range *count {
				m := &Maker{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), Sloppy: i%3 > 0, Wrong: i%3 == 2, Likely: []int{2, 8, 20, 40}[i/3%4]}
				doc := withKindOf(k, m.Struct(k.Type, 0))
				if check(t, k, doc, m.Sloppy) && i < 36 && golden.size() < 15000 {
					golden.add(t, k, doc)
				}
				if t.Failed() {
					return
				}
			}
			goldenLines = append(goldenLines, golden.lines...)
		})
	}
}

func TestCases(t *testing.T) {
	byName := map[string]kind{}
	for _, k := range allKinds(t) {
		byName[strings.TrimPrefix(k.Type.Name, "io.k8s.api.")] = k
	}
	var golden golden
	for line := range strings.Lines(cases) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, _ := strings.Cut(line, " ")
		k, ok := byName[name]
		if !ok {
			t.Errorf("unknown kind %q", name)
			continue
		}
		doc, err := document.ParseJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		doc = withKindOf(k, doc)
		if check(t, k, doc, true) {
			golden.add(t, k, doc)
		}
	}
	goldenLines = append(goldenLines, golden.lines...)
}

func withKindOf(k kind, doc document.Value) document.Value {
	apiVersion, name := k.ToAPIVersionAndKind()
	if doc.Kind() != document.Map {
		return doc
	}
	return doc.With("apiVersion", document.NewString(apiVersion)).With("kind", document.NewString(name))
}

// check fails the test if the results of kube-apiserver and of Cadastre for doc differ. It returns false if they differ
// or if only one of the two rejects doc. sloppy reports whether doc contains values that Go would omit.
func check(t *testing.T, k kind, doc document.Value, sloppy bool) bool {
	t.Helper()
	want, wantErr := Upstream(k.GroupVersionKind, []byte(doc.JSON()))
	read, unknown, err := k.Decode(doc)
	switch {
	case wantErr != nil && err != nil:
		if !strings.HasPrefix(err.Error(), wantErr.Error()) {
			t.Errorf("document %v\nwant error %v\ngot        %v", doc, wantErr, err)
		}
		return true
	case wantErr != nil || err != nil:
		t.Errorf("document %v\nwant error %v\ngot        %v", doc, wantErr, err)
		return false
	}
	got := k.Default(read)
	if problem := compare(k, doc, got, want, unknown, sloppy); problem != nil {
		t.Errorf("document %v\n%v\nwant %s\ngot  %v", doc, problem, want.JSON, got)
		return false
	}
	return true
}

func compare(k kind, doc, got document.Value, want Result, unknown []string, sloppy bool) error {
	upstream, err := document.ParseJSON(want.JSON)
	if err != nil {
		return err
	}
	upstream, got = withoutNow(upstream), withoutNow(got)
	if !sloppy && !document.Equal(upstream, got) {
		return fmt.Errorf("result differs from kube-apiserver's: %w", Covers("", got, upstream, doc))
	}
	if err := Covers("", got, upstream, doc); err != nil {
		return err
	}
	for i, path := range unknown {
		unknown[i] = fmt.Sprintf("unknown field %q", path)
	}
	slices.Sort(unknown)
	slices.Sort(want.Unknown)
	if !slices.Equal(unknown, want.Unknown) {
		return fmt.Errorf("got unknown fields %q, want %q", unknown, want.Unknown)
	}
	return checkIdempotent(k, got, want)
}

// checkIdempotent returns an error unless kube-apiserver and Cadastre leave Cadastre's result got unchanged when they
// decode and default it again.
func checkIdempotent(k kind, got document.Value, want Result) error {
	again, err := Upstream(k.GroupVersionKind, []byte(got.JSON()))
	if err != nil {
		return err
	}
	a, errA := document.ParseJSON(again.JSON)
	b, errB := document.ParseJSON(want.JSON)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if !document.Equal(withoutNow(a), withoutNow(b)) {
		return fmt.Errorf("kube-apiserver changes Cadastre's result to %s, want it unchanged", again.JSON)
	}
	read, unknown, err := k.Decode(got)
	if err != nil || len(unknown) > 0 {
		return fmt.Errorf("second Decode() = %v with unknown fields %q, want no error and no unknown fields", err, unknown)
	}
	if twice := k.Default(read); !document.Same(twice, got) {
		return fmt.Errorf("second Default() = %v, want its argument unchanged", twice)
	}
	return nil
}

// withoutNow replaces the values of timeAdded, the only field whose default is the current time.
func withoutNow(v document.Value) document.Value {
	switch v.Kind() {
	case document.Map:
		for name, value := range v.Fields() {
			if name == "timeAdded" && value.Text() > "2021" {
				v = v.With(name, document.NewString("2020-12-31T00:00:00Z"))
			} else if changed := withoutNow(value); !document.Same(changed, value) {
				v = v.With(name, changed)
			}
		}
	case document.List:
		items := make([]document.Value, v.Len())
		differ := false
		for i, item := range v.Items() {
			items[i] = withoutNow(item)
			differ = differ || !document.Same(items[i], item)
		}
		if differ {
			return document.NewList(items...)
		}
	}
	return v
}

// golden contains lines for the golden file: the type, the input, the result or the error, and the unknown fields.
type golden struct{ lines []string }

var goldenLines []string

func (g *golden) size() (n int) {
	for _, line := range g.lines {
		n += len(line)
	}
	return n
}

func (g *golden) add(t *testing.T, k kind, doc document.Value) {
	t.Helper()
	read, unknown, err := k.Decode(doc)
	result := "!" + fmt.Sprint(err)
	if err == nil {
		if result = k.Default(read).JSON(); strings.Contains(result, `"timeAdded"`) {
			return
		}
	}
	g.lines = append(g.lines, strings.Join([]string{k.Type.Name, doc.JSON(), result, strings.Join(unknown, " ")}, "\t"))
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && *write {
		if err := writeGolden(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func writeGolden() error {
	slices.Sort(goldenLines)
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	const header = "# Generated by make oracle-rules ORACLE=-write from kube-apiserver's decoding and defaulting; do not edit.\n"
	_, err = w.Write([]byte(header + strings.Join(slices.Compact(goldenLines), "\n") + "\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return os.WriteFile("../../../internal/api/builtin/testdata/golden.txt.gz", b.Bytes(), 0o644)
}
