package wire

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/test/clients/target"
)

var record = flag.Bool("record", false, "record the responses of kube-apiserver in testdata")

// optionsFile is a file with one line per request, whose columns are: the method, the part of the URL after the path of
// ConfigMaps, the response of kube-apiserver, and the response of Cadastre if it differs. The method WATCH is a GET of
// the deprecated path /watch/….
const optionsFile = "testdata/options.tsv"

// TestOptions sends reads with valid and invalid parameters, alone and combined, and compares the responses with
// optionsFile.
func TestOptions(t *testing.T) {
	s, namespace := connect(t), target.Namespace(t)
	place := "/namespaces/" + namespace + "/configmaps"
	for _, name := range []string{"a", "b", "c"} {
		s.must(t, 201, "POST", "/api/v1"+place, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`","labels":{"mine":"yes"}}}`)
	}
	list := read[metav1.List](t, s.must(t, 200, "GET", "/api/v1"+place+"?limit=1&labelSelector=mine", ""))
	words := strings.NewReplacer("NOW", list.ResourceVersion, "NEXT", list.Continue)

	text, err := os.ReadFile(optionsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var all sync.WaitGroup
	for i, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		all.Go(func() {
			columns := strings.Split(line, "\t")
			method, path, want := columns[0], "/api/v1"+place, columns[2]
			if method == "WATCH" {
				method, path = "GET", "/api/v1/watch"+place
			}
			if target.Implementation() == target.Cadastre && columns[3] != "" {
				want = columns[3]
			}
			got := s.call(t, method, path+words.Replace(columns[1]), "").summary(t)
			if *record && target.Implementation() == target.KubeAPIServer {
				columns[2] = got
				lines[i] = strings.Join(columns, "\t")
			} else if got != want {
				t.Errorf("%s %s = %q, want %q", columns[0], columns[1], got, want)
			}
		})
	}
	all.Wait()
	if *record {
		if err := os.WriteFile(optionsFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// summary returns the status code of a, followed by the content or the error.
func (a apiResponse) summary(t *testing.T) string {
	if a.code >= 400 {
		status := a.status(t)
		words := fmt.Sprint(a.code, " ", status.Reason)
		if status.Details == nil {
			return strings.TrimSpace(words)
		}
		for _, cause := range status.Details.Causes {
			words += "; " + cause.Field + ": " + cause.Message
		}
		return words
	}
	var object struct {
		Kind     string            `json:"kind"`
		Type     string            `json:"type"`
		Items    []json.RawMessage `json:"items"`
		Metadata metav1.ListMeta   `json:"metadata"`
	}
	first, _, _ := strings.Cut(a.body, "\n{")
	switch err := json.Unmarshal([]byte(first), &object); {
	case a.body == "":
		return fmt.Sprint(a.code, " nothing")
	case err != nil:
		t.Errorf("response %s is not valid JSON: %v", a.body, err)
		return ""
	case object.Type != "":
		return fmt.Sprint(a.code, " ", events(a.body))
	case object.Items != nil:
		words := fmt.Sprint(a.code, " list ", len(object.Items))
		if object.Metadata.Continue != "" {
			words += " more"
		}
		return words
	}
	return fmt.Sprint(a.code, " ", object.Kind)
}

// events returns the types of the events in body, the response to a watch, with END for the bookmark that ends the
// initial events. All further bookmarks are omitted, because the time at which they are sent varies.
func events(body string) string {
	var types []string
	for line := range strings.Lines(body) {
		var event struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return err.Error()
		}
		if event.Type != "BOOKMARK" {
			types = append(types, event.Type)
		} else if event.Object.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			types = append(types, "END")
		}
	}
	if types == nil {
		return "nothing"
	}
	return strings.Join(types, " ")
}
