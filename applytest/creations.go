package applytest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// creations are the objects that a script may have created. An object is tracked before the request is sent, because a server
// may execute a request even if the client does not receive the response. An object whose path and name do not contain the
// script's namespace is tracked only after the server has responded that it created the object, so that existing objects are
// never deleted.

// resourcePath is a request path split into its parts.
type resourcePath struct {
	collection        string // the path of the collection, including its namespace
	name, subresource string
}

// parseResourcePath parses a request path; the result is empty if it is not the path of an object or a collection.
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

// namespaceSubresources are the subresources of a namespace. In a path such as /api/v1/namespaces/NAME/status, they are
// in the place of a namespaced resource.
var namespaceSubresources = []string{"status", "finalize"}

// creation is the path of an object that a script may have created, or the path of its collection if the server generates the
// name.
type creation struct {
	path      string
	generated bool
	prefix    string // the generateName of the object, if generated is true
}

// track adds the objects that a request may create to p.creations. It includes dry runs, because a defective server may
// ignore dryRun.
func (p *scriptRun) track(request *http.Request, body []byte) {
	at := parseResourcePath(request.URL.Path)
	if at.collection == "" || at.subresource != "" {
		return
	}
	switch request.Method {
	case http.MethodPost:
		name, prefix := namesIn(request.Header.Get("Content-Type"), body)
		if name == "" {
			p.addCreation(creation{path: at.collection, generated: true, prefix: prefix})
			return
		}
		p.addCreation(creation{path: at.collection + "/" + name})
	case http.MethodPut, http.MethodPatch:
		p.addCreation(creation{path: at.collection + "/" + at.name})
	}
}

// addCreation adds the creation t to p.creations if its path or name contains the script's namespace.
func (p *scriptRun) addCreation(t creation) {
	if strings.Contains(t.path+t.prefix, p.variables.namespace) && !slices.Contains(p.creations, t) {
		p.creations = append(p.creations, t)
	}
}

// untrack removes the elements of p.creations from index start, which were tracked for a request, if the server has
// rejected the request.
func (p *scriptRun) untrack(start int, a *serverResponse) {
	if a.code/100 == 4 {
		p.creations = p.creations[:start]
	}
}

// trackCreated adds an object to p.creations if the response states that the server created it, whatever the name of
// the object.
func (p *scriptRun) trackCreated(request *http.Request, a *serverResponse) {
	at, name := parseResourcePath(request.URL.Path), a.body.Lookup("metadata", "name").Text()
	isMade := a.code == http.StatusCreated && !request.URL.Query().Has("dryRun")
	if t := (creation{path: at.collection + "/" + name}); isMade && name != "" && at.subresource == "" && !slices.Contains(p.creations, t) {
		p.creations = append(p.creations, t)
	}
}

// namesIn returns the name and generateName of an object in a body; both are empty if the body is not an object.
func namesIn(contentType string, body []byte) (name, prefix string) {
	value, err := parseBody(contentType, body)
	if err != nil || value.IsAbsent() {
		value, _ = document.ParseYAML(body) // ParseYAML also parses JSON, which is a subset of YAML
	}
	return value.Lookup("metadata", "name").Text(), value.Lookup("metadata", "generateName").Text()
}

// createdPaths returns the paths of the objects of a creation. If the server generated the name, createdPaths lists the
// collection and returns the objects whose names start with the creation's prefix.
func (s *server) createdPaths(ctx context.Context, t creation) ([]string, error) {
	if !t.generated {
		return []string{t.path}, nil
	}
	if t.prefix == "" && s.shared {
		return nil, nil // an empty prefix would match all objects
	}
	a, err := s.send(ctx, http.MethodGet, t.path, nil, "")
	if err != nil || a.code == http.StatusNotFound || a.code == http.StatusMethodNotAllowed {
		return nil, err
	}
	var paths []string
	for _, item := range a.body.Get("items").Items() {
		if name := item.Lookup("metadata", "name").Text(); strings.HasPrefix(name, t.prefix) {
			paths = append(paths, t.path+"/"+name)
		}
	}
	return paths, nil
}

// clean deletes the objects of the script in reverse order of their creation, even after the run was canceled.
func (p *scriptRun) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.server.cleanupTimeout)
	defer cancel()
	for _, watch := range p.watches {
		watch.stop()
	}
	before := len(p.server.pendingRemovals())
	for _, t := range slices.Backward(p.creations) {
		paths, err := p.server.createdPaths(ctx, t)
		if err != nil {
			p.server.addPending(t.path, err)
		}
		for _, path := range paths {
			p.server.remove(ctx, path)
		}
	}
	if p.server.shared {
		if len(p.server.pendingRemovals()) > before {
			p.server.removePending(ctx) // deletions must be complete before the next script, because it uses the same names
		}
		return
	}
	p.server.remove(ctx, namespacePath+p.variables.namespace)
}
