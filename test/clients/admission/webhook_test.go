package admission

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
)

// A webhook is one that runs here. What it does is in the path at which it is called: each word between slashes does
// something to the answer, but for slow, which never answers.
type webhook struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
}

// asked is what the webhook was sent.
type asked struct {
	path   string
	review map[string]any
}

func startWebhook(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{}
	w.Server = httptest.NewTLSServer(w)
	t.Cleanup(w.Close)
	return w
}

// bundle is whom clients of the webhook must trust.
func (w *webhook) bundle() string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw}))
}

// take returns what the webhook was asked since the last time.
func (w *webhook) take() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.asked
	w.asked = nil
	return all
}

// ServeHTTP implements http.Handler.
func (w *webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	var review, noted map[string]any // what is noted is changed by who reads it
	if err := errors.Join(json.Unmarshal(text, &review), json.Unmarshal(text, &noted)); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	if review["kind"] == "AdmissionReview" { // how often objects are converted differs
		w.mu.Lock()
		w.asked = append(w.asked, asked{r.URL.RequestURI(), noted})
		w.mu.Unlock()
	}
	request, _ := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	answer := map[string]any{"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
	if strings.Contains(r.URL.Path, "/slow") {
		<-r.Context().Done() // the caller has lost patience
		return
	}
	for word := range strings.SplitSeq(strings.Trim(r.URL.Path, "/"), "/") {
		if do := words[word]; do != nil {
			do(answer, response, request)
		}
	}
	if code, ok := answer["code"].(int); ok {
		out.Header().Set("Location", fmt.Sprint(answer["location"]))
		out.WriteHeader(code)
		fmt.Fprintln(out, "the webhook is not well")
		return
	}
	out.Header().Set("Content-Type", "application/json")
	if broken, ok := answer["text"].(string); ok {
		fmt.Fprint(out, broken)
		return
	}
	json.NewEncoder(out).Encode(answer)
}

// words are what a webhook can do.
var words = map[string]func(answer, response, request map[string]any){
	"deny": func(_, response, _ map[string]any) { response["allowed"] = false },
	"why": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"message": "not like this"}
	},
	"teapot": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"message": "not like this", "reason": "Teapot", "code": 418, "details": map[string]any{"kind": "pots"}}
	},
	"reason": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"reason": "BecauseISaySo", "status": "Success", "code": 200}
	},
	"warn": func(_, response, _ map[string]any) {
		response["warnings"] = []string{"think again", `say "why"`}
	},
	"audit": func(_, response, _ map[string]any) {
		response["auditAnnotations"] = map[string]any{"seen": "yes"}
	},
	"otheruid":  func(_, response, _ map[string]any) { response["uid"] = "another" },
	"otherkind": func(answer, _, _ map[string]any) { answer["kind"] = "AdmissionView" },
	"noanswer":  func(answer, _, _ map[string]any) { delete(answer, "response") },
	"nojson":    func(answer, _, _ map[string]any) { answer["text"] = "yes, of course" },
	"untyped":   func(answer, _, _ map[string]any) { answer["text"] = `{"response":{"allowed":true}}` },
	"broken":    func(answer, _, _ map[string]any) { answer["code"] = 500 },
	"missing":   func(answer, _, _ map[string]any) { answer["code"] = 404 },
	"notype": func(_, response, _ map[string]any) {
		response["patch"] = encode(add("/data/x", "1"))
	},
	"nopatch": func(_, response, _ map[string]any) { response["patchType"] = "JSONPatch" },
	"otherpatch": func(_, response, _ map[string]any) {
		response["patchType"], response["patch"] = "MergePatch", encode(add("/data/x", "1"))
	},
	"undecodable": func(_, response, _ map[string]any) {
		response["patchType"], response["patch"] = "JSONPatch", encode("nonsense")
	},
	"nowhere": func(_, response, _ map[string]any) {
		patch(response, map[string]any{"op": "remove", "path": "/data/nowhere"})
	},
	"unfit": func(_, response, _ map[string]any) { patch(response, add("/data", "one text")) },
	"unknown": func(_, response, _ map[string]any) {
		patch(response, add("/unknown", "field"), add("/data/known", "field"))
	},
	"wrong":   func(_, response, _ map[string]any) { patch(response, add("/data/a b", "keys have no spaces")) },
	"rename":  func(_, response, _ map[string]any) { patch(response, add("/metadata/name", "another")) },
	"version": func(_, response, _ map[string]any) { patch(response, add("/metadata/resourceVersion", "1")) },
	"uid": func(_, response, _ map[string]any) {
		patch(response, add("/metadata/uid", "00000000-0000-0000-0000-000000000000"))
	},
	"untype": func(_, response, _ map[string]any) {
		patch(response, map[string]any{"op": "remove", "path": "/kind"}, map[string]any{"op": "remove", "path": "/apiVersion"})
	},
	"doom":    func(_, response, _ map[string]any) { patch(response, add("/metadata/deletionGracePeriodSeconds", 7)) },
	"nothing": func(_, response, _ map[string]any) { patch(response) },
	"x":       func(_, response, _ map[string]any) { patch(response, add("/data/x", "1")) },
	"scale":   func(_, response, _ map[string]any) { patch(response, add("/spec/replicas", 7)) },
	"port": func(_, response, _ map[string]any) {
		patch(response, add("/spec/ports/-", map[string]any{"name": "more", "port": 8080}))
	},
	"count": func(_, response, request map[string]any) {
		object, _ := request["object"].(map[string]any)
		data, _ := object["data"].(map[string]any)
		count, _ := data["count"].(string)
		patch(response, add("/data/count", count+"i"))
	},
	"v1":         func(_, response, request map[string]any) { patch(response, add("/apiVersion", groupOf(request)+"v1")) },
	"v2":         func(_, response, request map[string]any) { patch(response, add("/apiVersion", groupOf(request)+"v2")) },
	"v3":         func(_, response, request map[string]any) { patch(response, add("/apiVersion", groupOf(request)+"v3")) },
	"othergroup": func(_, response, _ map[string]any) { patch(response, add("/apiVersion", "other.example.com/v1")) },
	"unversion": func(_, response, _ map[string]any) {
		patch(response, map[string]any{"op": "remove", "path": "/apiVersion"})
	},
	"unkind": func(_, response, _ map[string]any) { patch(response, map[string]any{"op": "remove", "path": "/kind"}) },
	"secret": func(_, response, _ map[string]any) { patch(response, add("/kind", "Secret")) },
	"gadget2": func(_, response, request map[string]any) {
		patch(response, add("/apiVersion", groupOf(request)+"v2"), add("/kind", "Gadget"))
	},
	"deep": func(_, response, _ map[string]any) {
		patch(response, add("/spec/unknown", map[string]any{"a": 1}), add("/spec/list/0/unknown", []any{1}))
	},
	"meta": func(_, response, _ map[string]any) {
		patch(response, add("/metadata/unknown", "field"), add("/metadata/labels", map[string]any{"l": "1"}))
	},
	"convert": func(answer, response, request map[string]any) {
		to, objects := request["desiredAPIVersion"].(string), request["objects"].([]any)
		for _, one := range objects {
			object := one.(map[string]any)
			object["apiVersion"] = to
			if data, ok := object["data"].(map[string]any); ok {
				data["converted"] = "to " + path.Base(to)
			}
		}
		answer["kind"] = "ConversionReview"
		response["convertedObjects"], response["result"] = objects, map[string]any{"status": "Success"}
	},
	"disown": func(_, response, _ map[string]any) { patch(response, add("/metadata/managedFields", []any{})) },
	"misown": func(_, response, _ map[string]any) {
		patch(response, add("/metadata/managedFields", []any{map[string]any{"manager": "hook", "operation": "Sing", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{}}}))
	},
	"own": func(_, response, _ map[string]any) {
		patch(response, add("/data/hooked", "yes"), add("/metadata/managedFields/-", map[string]any{
			"manager": "hook", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2026-01-02T03:04:05Z",
			"fieldsV1": map[string]any{"f:data": map[string]any{"f:hooked": map[string]any{}}},
		}))
	},
}

// groupOf is the group of what a webhook is asked about, as apiVersions begin.
func groupOf(request map[string]any) string {
	kind, _ := request["kind"].(map[string]any)
	if kind["group"] == "" {
		return ""
	}
	return fmt.Sprint(kind["group"], "/")
}

func add(path string, value any) map[string]any {
	return map[string]any{"op": "add", "path": path, "value": value}
}

func patch(response map[string]any, operations ...map[string]any) {
	if operations == nil {
		operations = []map[string]any{}
	}
	response["patchType"], response["patch"] = "JSONPatch", encode(operations)
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was made here
	}
	return base64.StdEncoding.EncodeToString(text)
}
