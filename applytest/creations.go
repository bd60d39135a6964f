package applytest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// creations are the objects that a script may have created. An object is tracked before the request is sent, because a server
// may execute a request even if the client does not receive the response. If neither the path nor the name of the object
// contains the script's namespace, the object is tracked only after the server has responded that it created the object, so
// that existing objects are never deleted.

// resourcePath is a request path split into its parts.
type resourcePath struct {
	collection        string // the path of the collection, including its namespace
	name, subresource string
}

// parseResourcePath parses path, the path of a request. The result is empty if path is not the path of an object or a
// collection.
func parseResourcePath(path string) resourcePath {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	head := 2 // the length of the prefix api/v1
	if parts[0] == "apis" {
		head = 3
	}
	if len(parts) > head+2 && parts[head] == "namespaces" && !slices.Contains(namespaceSubresources, parts[head+2]) {
		head += 2
	}
	if len(parts) <= head {
		return resourcePath{}
	}
	p := resourcePath{collection: "/" + strings.Join(parts[:head+1], "/")}
	if rest := parts[head+1:]; len(rest) > 0 {
		p.name = rest[0]
		p.subresource = strings.Join(rest[1:], "/")
	}
	return p
}

// namespaceSubresources are the subresources of a namespace. parseResourcePath must not mistake them for resources: in
// /api/v1/namespaces/NAME/status, status is in the place of a namespaced resource.
var namespaceSubresources = []string{"status", "finalize"}

// creation is the path of an object that a script may have created, or the path of its collection if the server generates the
// name.
type creation struct {
	path      string
	generated bool
	prefix    string // the generateName of the object, if generated is true
}

// track adds the objects that request may create to run.creations. It also tracks dry runs, because a defective server may
// ignore dryRun.
func (run *scriptRun) track(request *http.Request, body []byte) {
	at := parseResourcePath(request.URL.Path)
	if at.collection == "" || at.subresource != "" {
		return
	}
	switch request.Method {
	case http.MethodPost:
		name, prefix := objectNames(request.Header.Get("Content-Type"), body)
		if name == "" {
			run.addCreation(creation{path: at.collection, generated: true, prefix: prefix})
			return
		}
		run.addCreation(creation{path: at.collection + "/" + name})
	case http.MethodPut, http.MethodPatch:
		run.addCreation(creation{path: at.collection + "/" + at.name})
	}
}

// addCreation adds c to run.creations if its path or name contains the script's namespace.
func (run *scriptRun) addCreation(c creation) {
	if strings.Contains(c.path+c.prefix, run.variables.namespace) && !slices.Contains(run.creations, c) {
		run.creations = append(run.creations, c)
	}
}

// untrack removes the elements of run.creations with indexes >= start, which were tracked for a request, if resp states that
// the server rejected the request.
func (run *scriptRun) untrack(start int, resp *serverResponse) {
	if resp.code/100 == 4 {
		run.creations = run.creations[:start]
	}
}

// trackCreated adds the object in resp to run.creations if resp states that the server created it, regardless of the name of the
// object.
func (run *scriptRun) trackCreated(request *http.Request, resp *serverResponse) {
	at, name := parseResourcePath(request.URL.Path), resp.body.Lookup("metadata", "name").Text()
	isMade := resp.code == http.StatusCreated && !request.URL.Query().Has("dryRun")
	if c := (creation{path: at.collection + "/" + name}); isMade && name != "" && at.subresource == "" && !slices.Contains(run.creations, c) {
		run.creations = append(run.creations, c)
	}
}

// objectNames returns the name and the generateName of the object in body; both are empty if body is not an object.
func objectNames(contentType string, body []byte) (name, prefix string) {
	value, err := parseBody(contentType, body)
	if err != nil || value.IsAbsent() {
		value, _ = document.ParseYAML(body) // ParseYAML also parses JSON, which is a subset of YAML
	}
	return value.Lookup("metadata", "name").Text(), value.Lookup("metadata", "generateName").Text()
}

// createdPaths returns the paths of the objects of c. If the server generated the name, createdPaths lists the collection and
// returns the paths of the objects whose names start with c.prefix.
func (s *server) createdPaths(ctx context.Context, c creation) ([]string, error) {
	if !c.generated {
		return []string{c.path}, nil
	}
	if c.prefix == "" && s.shared {
		return nil, nil // an empty prefix would match all objects
	}
	resp, err := s.send(ctx, http.MethodGet, c.path, nil, "")
	if err != nil || resp.code == http.StatusNotFound || resp.code == http.StatusMethodNotAllowed {
		return nil, err
	}
	var paths []string
	for _, item := range resp.body.Get("items").Items() {
		if name := item.Lookup("metadata", "name").Text(); strings.HasPrefix(name, c.prefix) {
			paths = append(paths, c.path+"/"+name)
		}
	}
	return paths, nil
}

// cleanUp deletes the objects of the script in reverse order of their creation, even after the run was canceled.
func (run *scriptRun) cleanUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), run.server.cleanupTimeout)
	defer cancel()
	for _, watch := range run.watches {
		watch.stop()
	}
	before := len(run.server.pendingRemovals())
	for _, c := range slices.Backward(run.creations) {
		paths, err := run.server.createdPaths(ctx, c)
		if err != nil {
			run.server.addPending(c.path, err)
		}
		for _, path := range paths {
			run.server.remove(ctx, path)
		}
	}
	if run.server.shared {
		if len(run.server.pendingRemovals()) > before {
			run.server.removePending(ctx) // deletions must be complete before the next script, because it uses the same names
		}
		return
	}
	run.server.remove(ctx, namespacePath+run.variables.namespace)
}
