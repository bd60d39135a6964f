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

// webhook is the webhook server of the tests. The elements of its URL path select its behaviour, see behaviours; with
// the element slow it never responds.
type webhook struct {
	*httptest.Server
	mu    sync.Mutex
	calls []webhookCall
}

// webhookCall is a request that the webhook server has received.
type webhookCall struct {
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

// bundle returns the caBundle with which an API server verifies the webhook's certificate.
func (w *webhook) bundle() string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw}))
}

// take returns the requests that the webhook server has received since the previous call of take.
func (w *webhook) take() []webhookCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.calls
	w.calls = nil
	return all
}

// ServeHTTP implements http.Handler.
func (w *webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	var review, recorded map[string]any // recorded is a copy, because the transcript modifies it
	if err := errors.Join(json.Unmarshal(text, &review), json.Unmarshal(text, &recorded)); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	if review["kind"] == "AdmissionReview" { // conversion reviews are not recorded, because their number differs between servers
		w.mu.Lock()
		w.calls = append(w.calls, webhookCall{r.URL.RequestURI(), recorded})
		w.mu.Unlock()
	}
	request, _ := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	answer := map[string]any{"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
	if strings.Contains(r.URL.Path, "/slow") {
		<-r.Context().Done() // blocks until the client times out
		return
	}
	for word := range strings.SplitSeq(strings.Trim(r.URL.Path, "/"), "/") {
		if do := behaviours[word]; do != nil {
			do(answer, response, request)
		}
	}
	if code, ok := answer["code"].(int); ok {
		out.Header().Set("Location", fmt.Sprint(answer["location"]))
		out.WriteHeader(code)
		fmt.Fprintln(out, "webhook failure")
		return
	}
	out.Header().Set("Content-Type", "application/json")
	if broken, ok := answer["text"].(string); ok {
		fmt.Fprint(out, broken)
		return
	}
	json.NewEncoder(out).Encode(answer)
}

// behaviours maps path elements to the behaviours of the webhook that they select.
var behaviours = map[string]func(answer, response, request map[string]any){
	"deny": func(_, response, _ map[string]any) { response["allowed"] = false },
	"why": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"message": "denied by the test"}
	},
	"teapot": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"message": "denied by the test", "reason": "Teapot", "code": 418, "details": map[string]any{"kind": "pots"}}
	},
	"reason": func(_, response, _ map[string]any) {
		response["status"] = map[string]any{"reason": "TestReason", "status": "Success", "code": 200}
	},
	"warn": func(_, response, _ map[string]any) {
		response["warnings"] = []string{"first warning", `say "why"`}
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

// groupOf returns the API group of the object in request, the request of a review, with a trailing slash. It returns ""
// for the core group.
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
		panic(err) // cannot fail: the values are built from types that can be encoded
	}
	return base64.StdEncoding.EncodeToString(text)
}
