package app

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
)

// TestErrorsWithoutSecretValues checks that errors of writes of a Secret contain no values of the Secret, neither of the live
// object nor of the body.
func TestErrorsWithoutSecretValues(t *testing.T) {
	c := start(t, Config{})
	const secrets = "/api/v1/namespaces/default/secrets"
	value := base64.StdEncoding.EncodeToString([]byte("hunter2hunter2"))
	c.call("POST", secrets, `{"metadata":{"name":"s"},"data":{"p":"`+value+`"}}`).want(201)
	const jsonPatch = "application/json-patch+json"
	type request struct{ method, path, body, media string }
	requests := []request{
		{"POST", secrets, `{"metadata":{"name":"t"},"data":{"p":hunter2hunter2}}`, "application/json"},
		{"POST", secrets, `{"metadata":{"name":"t"},"data":{"p":"hunter2hunter2!"}}`, "application/json"},
		{"POST", secrets, `{"metadata":{"name":"t"},"stringData":{"p":["hunter2hunter2"]}}`, "application/json"},
		{"POST", secrets, "metadata: {name: t}\ndata: {p: 'hunter2hunter2'", "application/yaml"},
		{"POST", secrets, `{"metadata":{"name":"t"},"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"hunter2hunter2"}}`, "application/json"},
		{"PUT", secrets + "/s", `{"metadata":{"name":"s","uid":"` + value + `"},"data":{"p":"` + value + `"}}`, "application/json"},
		{"PATCH", secrets + "/s?fieldManager=m", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: {hunter2hunter2: 1}}", applyType},
		{"PATCH", secrets + "/s", `{"metadata":{"labels":{"a":"` + value + `="}},"data":{"p":"` + value + `"}}`, mergeType},
	}
	for _, to := range []string{"/type", "/kind", "/apiVersion", "/metadata/name", "/metadata/namespace", "/metadata/uid", "/metadata/resourceVersion", "/metadata/labels", "/metadata/finalizers",
		"/metadata/creationTimestamp", "/metadata/managedFields", "/metadata/ownerReferences", "/immutable", "/data", "/metadata", "", "/data/ä", "/metadata/generateName"} {
		for _, op := range []string{"copy", "move"} {
			requests = append(requests, request{"PATCH", secrets + "/s", fmt.Sprintf(`[{"op":"%s","from":"/data/p","path":"%s"}]`, op, to), jsonPatch})
		}
	}
	requests = append(requests, request{"PATCH", secrets + "/s", `[{"op":"add","path":"/metadata/labels","value":{}},{"op":"copy","from":"/data/p","path":"/metadata/labels/a!"}]`, jsonPatch})
	failed := 0
	for _, r := range requests {
		for _, dryRun := range []string{"", "dryRun=All"} {
			separator := "?"
			if strings.Contains(r.path, "?") {
				separator = "&"
			}
			answer := c.call(r.method, r.path+separator+dryRun, r.body, "Content-Type: "+r.media)
			if answer.code < 300 {
				continue
			}
			failed++
			if strings.Contains(answer.text, value[:12]) || strings.Contains(answer.text, "hunter2hunter2") {
				t.Errorf("%s %s %s: the response shows a value of the Secret: %d %s", r.method, r.path, r.body, answer.code, answer.text)
			}
		}
	}
	if failed < 40 {
		t.Errorf("number of rejected requests: got %d, want at least 40", failed)
	}
	c.call("POST", secrets, `{"metadata":{"name":"t","labels":{"a":"not valid!"}},"data":{"p":"`+value+`"}}`).want(422, "not valid!") // errors contain values of other fields
}

// TestStorageErrorsWithoutPaths checks that responses do not contain the error of the store, which may name files.
func TestStorageErrorsWithoutPaths(t *testing.T) {
	failure := &fs.PathError{Op: "write", Path: "/data/store/000004.log", Err: errors.New("input/output error")}
	for _, err := range []error{registry.StoreError(failure), registry.StoreError(&storage.UnknownError{Err: failure})} {
		if !strings.Contains(err.Error(), failure.Path) {
			t.Errorf("error for the log: got %v, want the path", err)
		}
		if status := encoding.StatusOf(err); strings.Contains(status.Message, "/data") || !strings.Contains(status.Message, "the storage failed") || status.Code < 500 {
			t.Errorf("status: got %d %q, want no path", status.Code, status.Message)
		}
	}
}

// TestContentLengthWithTransferEncoding checks that a connection is closed after a request that states its length in two
// ways, so that the rest of its body is not parsed as another request.
func TestContentLengthWithTransferEncoding(t *testing.T) {
	c := start(t, Config{})
	config := c.http.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.url, "https://"), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" +
		"GET /version HTTP/1.1\r\nHost: x\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || !response.Close {
		t.Errorf("first response: error %v, Connection: close = %v, want a connection that is closed", err, response.Close)
	}
	if second, err := http.ReadResponse(reader, nil); err == nil {
		t.Errorf("second response: got %d, want none", second.StatusCode)
	}
}

// TestProtectedFolders checks that directories which other users can read are made private at the start, with a warning.
func TestProtectedFolders(t *testing.T) {
	folder := t.TempDir()
	var log strings.Builder
	config := Config{Folder: folder}
	for _, name := range []string{"", "store", "pki"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := &Server{config: config}
	if err := s.protectFolders(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "store", "pki"} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("mode of %q after the start: %v, %v, want 0750", name, info.Mode().Perm(), err)
		}
	}
	if n := strings.Count(log.String(), "data directory was accessible to other users"); n != 3 {
		t.Errorf("number of warnings: got %d, want 3: %s", n, log.String())
	}
	log.Reset()
	if err := s.protectFolders(); err != nil || log.Len() > 0 {
		t.Errorf("second start: %v, %s, want no warning", err, log.String())
	}
	start(t, Config{Folder: folder})
}
