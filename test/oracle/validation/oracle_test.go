package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

var (
	folder = flag.String("folder", "../testdata/validation", "where the objects are")
	update = flag.Bool("update", false, "write what kube-apiserver says to verdicts.txt.gz")
)

// sample is an object that kube-apiserver accepts.
type sample struct {
	name, typ string
	gvk       schema.GroupVersionKind
	text      []byte
	tree      any
	object    runtime.Object
}

// samples returns the objects of a folder.
func samples(t *testing.T, of string) (list []sample) {
	files, err := filepath.Glob(*folder + "/" + of + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no objects", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.SplitSeq(string(content), "\n---\n") {
			s, err := newSample(text)
			if err != nil {
				t.Errorf("%s: %v in %s", file, err, text)
				continue
			}
			list = append(list, s)
		}
	}
	return list
}

func newSample(text string) (s sample, err error) {
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		return s, err
	}
	m := doc.Get("metadata").With("uid", document.NewString("11111111-2222")).With("resourceVersion", document.NewString("1")).
		With("creationTimestamp", document.NewString("2020-01-01T00:00:00Z"))
	doc = doc.With("metadata", m)
	if s.object, s.text, _, err = decode([]byte(doc.JSON())); err != nil {
		return s, err
	}
	if err := json.Unmarshal(s.text, &s.tree); err != nil {
		return s, err
	}
	s.gvk = schema.FromAPIVersionAndKind(doc.Get("apiVersion").Text(), doc.Get("kind").Text())
	s.name = doc.Get("kind").Text() + "/" + m.Get("name").Text()
	group, _, _ := strings.Cut(s.gvk.Group, ".")
	if group == "" {
		group = "core"
	}
	s.typ = group + "." + s.gvk.Version + "." + s.gvk.Kind
	if strategies[s.gvk.GroupKind()] == nil {
		return s, fmt.Errorf("%s has no strategy", s.gvk)
	}
	return s, nil
}

func TestVerdicts(t *testing.T) {
	var verdicts bytes.Buffer
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	recordObjects(t, &verdicts, more)
	finish(t, "verdicts.txt.gz", verdicts.Bytes())
	for _, s := range append(samples(t, "statuses"), samples(t, "warned")...) {
		delete(more, s.key())
	}
	for name := range more {
		t.Errorf("there is no object %s to change", name)
	}
}

// TestStatusVerdicts does the same for writes to statuses.
func TestStatusVerdicts(t *testing.T) {
	var verdicts bytes.Buffer
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	recordStatuses(t, &verdicts, more)
	finish(t, "statuses.txt.gz", verdicts.Bytes())
}

func finish(t *testing.T, file string, verdicts []byte) {
	if *update {
		write(t, file, verdicts)
	}
	t.Logf("%d bytes of verdicts", len(verdicts))
}

func recordObjects(t *testing.T, verdicts *bytes.Buffer, more map[string][]change) {
	seen := map[string]bool{}
	for _, s := range samples(t, "objects") {
		if said, ok := ask(s.object, s.object, s.gvk); !ok || len(said) > 0 {
			t.Errorf("%s is no valid sample: %v %q", s.name, ok, said)
			continue
		}
		fmt.Fprintf(verdicts, "object\t%s\t%s\n", s.typ, s.text)
		record(verdicts, s, change{At: "/kind", Value: s.gvk.Kind}, true)
		for _, c := range changes("", s.tree) {
			if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" && !(seen[s.typ] && isUsualMetadata(c.At)) {
				record(verdicts, s, c, isEmpty(c.Value))
			}
		}
		for _, c := range more[s.key()] {
			record(verdicts, s, c, true)
		}
		delete(more, s.key())
		seen[s.typ] = true
	}
}

// recordStatuses asks about writes to the status of objects, there and back.
func recordStatuses(t *testing.T, verdicts *bytes.Buffer, more map[string][]change) {
	for _, s := range samples(t, "statuses") {
		if said, ok := askStatus(s.object, s.object, s.gvk); !ok || len(said) > 0 {
			t.Errorf("%s is no valid sample of a status: %v %q", s.name, ok, said)
			continue
		}
		fmt.Fprintf(verdicts, "object\t%s\t%s\n", s.typ, s.text)
		for _, c := range statusChanges(s, more) {
			now, _, ok := statusOf(s, c)
			if !ok {
				continue
			}
			if said, ok := askStatus(now, s.object, s.gvk); ok {
				fmt.Fprintf(verdicts, "status\t%s\t%s\n", c, strings.Join(said, "\t"))
			}
			if said, ok := askStatus(s.object, now, s.gvk); ok {
				fmt.Fprintf(verdicts, "status back\t%s\t%s\n", c, strings.Join(said, "\t"))
			}
		}
	}
}

// statusChanges returns what is done to the status of an object, and to its metadata.
func statusChanges(s sample, more map[string][]change) (list []change) {
	for _, c := range changes("", s.tree) {
		if strings.HasPrefix(c.At, "/status") || strings.HasPrefix(c.At, "/metadata/annotations") || c.At == "/metadata/finalizers" {
			list = append(list, c)
		}
	}
	return append(list, more[s.key()]...)
}

// statusOf returns an object with some changes made, also as a text; ok is false if kube-apiserver would see
// another one.
func statusOf(s sample, some ...change) (object runtime.Object, text []byte, ok bool) {
	tree := s.tree
	for _, c := range some {
		tree = apply(tree, c)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, nil, false
	}
	object, _, stable, err := decode(text)
	return object, text, err == nil && stable && !isFolded(object, s.gvk, text)
}

// key is how changes.txt calls an object.
func (s sample) key() string { return s.typ + " " + s.object.(metav1.Object).GetName() }

// isUsualMetadata reports whether a place is in the metadata that one object of each kind is
// enough for.
func isUsualMetadata(at string) bool {
	return strings.HasPrefix(at, "/metadata/") && at != "/metadata/name" && !strings.HasPrefix(at, "/metadata/annotations")
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case goneType:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func write(t *testing.T, file string, verdicts []byte) {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = z.Write(verdicts)
	_ = z.Close()
	if err := os.WriteFile(*folder+"/"+file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// record asks about a changed object: as a new one, as the update of what it was, and, if that is
// wanted and the changed object can be, about the way back. What defaults would change is left
// out: the tests that replay this have no defaults to set.
func record(to *bytes.Buffer, s sample, c change, back bool) {
	text, err := json.Marshal(apply(s.tree, c))
	if err != nil {
		return
	}
	object, _, stable, err := decode(text)
	if err != nil || !stable {
		return
	}
	line := func(verb string, now, old runtime.Object) {
		if said, ok := ask(now, old, s.gvk); ok {
			fmt.Fprintf(to, "%s\t%s\t%s\n", verb, c, strings.Join(said, "\t"))
		}
	}
	line("create", object, nil)
	line("update", object, s.object)
	if said, ok := ask(object, nil, s.gvk); back && !isUsualMetadata(c.At) && !strings.HasPrefix(c.At, "/status") && ok && len(said) == 0 {
		line("back", s.object, object)
	}
}
