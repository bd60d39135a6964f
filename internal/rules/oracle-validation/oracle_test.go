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

func samples(t *testing.T) (list []sample) {
	files, err := filepath.Glob(*folder + "/objects/*.yaml")
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
	for _, s := range samples(t) {
		if said, ok := ask(s.object, nil, s.gvk); !ok || len(said) > 0 {
			t.Errorf("%s is no valid sample: %v %q", s.name, ok, said)
			continue
		}
		fmt.Fprintf(&verdicts, "object\t%s\t%s\n", s.typ, s.text)
		record(&verdicts, s, change{At: "/kind", Value: s.gvk.Kind})
		for _, c := range changes("", s.tree) {
			if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" {
				record(&verdicts, s, c)
			}
		}
	}
	if *update {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(verdicts.Bytes())
		_ = z.Close()
		if err := os.WriteFile(*folder+"/verdicts.txt.gz", packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes of verdicts", verdicts.Len())
}

// record asks about a changed object. What defaults would change is left out: the tests that
// replay this have no defaults to set.
func record(to *bytes.Buffer, s sample, c change) {
	text, err := json.Marshal(apply(s.tree, c))
	if err != nil {
		return
	}
	object, _, stable, err := decode(text)
	if err != nil || !stable {
		return
	}
	for _, old := range []runtime.Object{nil, s.object} {
		verb := "create"
		if old != nil {
			verb = "update"
		}
		if said, ok := ask(object, old, s.gvk); ok {
			fmt.Fprintf(to, "%s\t%s\t%s\n", verb, c, strings.Join(said, "\t"))
		}
	}
}
