package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestManifestsFromURL checks that objects can be read from URLs, and that errors name the URL.
func TestManifestsFromURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/two.yaml":
			fmt.Fprint(w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n")
		case "/bad.yaml":
			fmt.Fprint(w, "apiVersion: v1\nkind: [\n")
		default:
			http.NotFound(w, r)
		}
	}))
	address := server.URL
	found, err := readManifests(t.Context(), []string{address + "/two.yaml"}, false, strings.NewReader(""))
	if err != nil || len(found) != 2 || found[0].name() != "configmap/a" || found[1].name() != "configmap/b" || found[0].source != address+"/two.yaml" {
		t.Errorf("readManifests() = %v, %v, want configmap/a and configmap/b", found, err)
	}
	for path, want := range map[string]string{
		"/none.yaml": address + "/none.yaml: expected 200 OK, received 404 Not Found",
		"/bad.yaml":  address + "/bad.yaml: line 2, column 7: ",
	} {
		if _, err := readManifests(t.Context(), []string{address + path}, false, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("readManifests(%s): error = %v, want %s", path, err, want)
		}
	}
	server.Close()
	if _, err := readManifests(t.Context(), []string{address + "/two.yaml"}, false, nil); err == nil || !strings.Contains(err.Error(), address+"/two.yaml") {
		t.Errorf("readManifests() of a closed server: error = %v, want one with the URL", err)
	}
}

// TestURLTimeout checks the error for servers that do not respond, or that do not finish the body, within the timeout.
func TestURLTimeout(t *testing.T) {
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half.yaml" {
			fmt.Fprint(w, "{apiVersion: v1, ")
			_ = http.NewResponseController(w).Flush()
		}
		<-end
	}))
	defer server.Close()
	defer close(end)
	for _, path := range []string{"/never.yaml", "/half.yaml"} {
		want := server.URL + path + ": no complete response within 200ms"
		if _, err := appendURL(t.Context(), nil, server.URL+path, 200*time.Millisecond); err == nil || err.Error() != want {
			t.Errorf("appendURL(%s): error = %v, want %s", path, err, want)
		}
	}
}
