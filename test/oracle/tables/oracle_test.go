package tables

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
)

var each = flag.Int("each", 10, "`number` of random objects per kind")

// resultsFolder is the folder to which the results are written.
var resultsFolder = filepath.Join("..", "..", "..", "internal", "encoding", "testdata")

func TestWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds := readKinds(t)
		writeColumns(t, kinds)
		writeWritten(t)
		writeRandom(t, kinds)
	})
}

// readKinds returns the built-in kinds that are stored, at their preferred version, and Scale, which is not stored but
// has columns. It reads the files that describe the kinds.
func readKinds(t *testing.T) []schema.GroupVersionKind {
	t.Helper()
	kinds := []schema.GroupVersionKind{{Group: "autoscaling", Version: "v1", Kind: "Scale"}}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "internal", "api", "builtin", "kinds", "*", "*.kind"))
	if err != nil || len(files) < 60 {
		t.Fatalf("files of kinds = %q, %v, want 1 or more", files, err)
	}
	for _, file := range files {
		properties := map[string]string{}
		for line := range strings.Lines(read(t, file)) {
			if name, value, ok := strings.Cut(line, ":"); ok && properties[name] == "" {
				properties[name] = strings.TrimSpace(value)
			} else if name, ok := strings.CutPrefix(line, "kind "); ok {
				properties["kind"] = strings.TrimSpace(name)
			}
		}
		if properties["    verbs"] == "create" {
			continue
		}
		version, _, _ := strings.Cut(properties["    versions"], " ")
		group := strings.TrimPrefix(properties["    group"], "core")
		kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: properties["kind"]})
	}
	slices.SortFunc(kinds[1:], func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Kind}, []string{b.Group, b.Kind})
	})
	return kinds
}

// table returns the Table that Kubernetes prints for object, which may be a list.
func table(object runtime.Object) (*metav1.Table, error) {
	generator := printers.NewTableGenerator().With(printersinternal.AddHandlers)
	convertor := printerstorage.TableConvertor{TableGenerator: generator}
	t, err := convertor.ConvertToTable(context.Background(), object, &metav1.TableOptions{})
	if err != nil && strings.Contains(err.Error(), "no table handler registered") {
		return rest.NewDefaultTableConvertor(schema.GroupResource{}).ConvertToTable(context.Background(), object, &metav1.TableOptions{})
	}
	return t, err
}

// writeColumns records the columns of each kind, and the rows of an empty list.
func writeColumns(t *testing.T, kinds []schema.GroupVersionKind) {
	t.Helper()
	var out bytes.Buffer
	for _, kind := range kinds {
		object, err := legacyscheme.Scheme.New(kind.GroupKind().WithVersion(runtime.APIVersionInternal))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := table(object)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		fmt.Fprintf(&out, "%s/%s", kind.Group, kind.Kind)
		lists := schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind + "List"}
		if list, err := legacyscheme.Scheme.New(lists); err == nil {
			empty, err := table(list)
			if err != nil {
				t.Fatalf("%v: %v", kind, err)
			}
			fmt.Fprintf(&out, " %s", encode(t, empty.Rows))
		}
		fmt.Fprintln(&out)
		for _, c := range answer.ColumnDefinitions {
			fmt.Fprintf(&out, "  %s|%s|%s|%d\n", c.Name, c.Type, c.Format, c.Priority)
		}
	}
	write(t, "columns.txt", append([]byte(header), out.Bytes()...))
}

// writeWritten records the rows of the hand-written cases, in which each line that starts with < is an object.
func writeWritten(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(read(t, filepath.Join(resultsFolder, "written.txt"))) {
		if strings.HasPrefix(line, ">") {
			continue
		}
		out.WriteString(line)
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "<")
		if !ok {
			continue
		}
		row, err := rowOf(t, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		fmt.Fprintf(&out, "> %s\n", row)
	}
	write(t, "written.txt", out.Bytes())
}

// rowOf returns the row that Kubernetes prints for the object text. It returns an error if the printer panics, which
// may happen because printers assume validated objects.
func rowOf(t *testing.T, text []byte) (row []byte, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the printer panicked: %v", r)
		}
	}()
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	// The object is not defaulted here, because stored objects have been defaulted already. Only podIP and podIPs are made
	// consistent, because random objects have different ones.
	if pod, ok := object.(*v1.Pod); ok {
		corev1.SetDefaults_PodStatus(&pod.Status)
	}
	object, err = legacyscheme.Scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	answer, err := table(object)
	if err != nil {
		return nil, err
	}
	return encode(t, struct {
		Cells      []any                      `json:"cells"`
		Conditions []metav1.TableRowCondition `json:"conditions,omitempty"`
	}{answer.Rows[0].Cells, answer.Rows[0].Conditions}), nil
}

// writeRandom records random objects and their rows.
func writeRandom(t *testing.T, kinds []schema.GroupVersionKind) {
	t.Helper()
	var out bytes.Buffer
	for i, kind := range kinds {
		m := maker{rand.New(rand.NewPCG(1, uint64(i)))}
		for made, tries := 0, 0; made < *each; tries++ {
			if tries > 200**each {
				t.Fatalf("%v: the printer panics for too many random objects", kind)
			}
			object := encode(t, m.object(t, kind))
			row, err := rowOf(t, object)
			if err != nil {
				continue
			}
			fmt.Fprintf(&out, "< %s\n> %s\n", object, row)
			made++
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(append([]byte(header), out.Bytes()...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, "random.txt.gz", packed.Bytes())
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// header is the first line of generated files. written.txt has a different header, because its objects are edited by
// hand.
const header = "# Generated by make oracle-tables from Kubernetes' printers and content negotiation; do not edit.\n"

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(resultsFolder, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}
