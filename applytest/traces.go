package applytest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Traces are what a script may have made. A trace is noted before its request is sent: a server may do what it is
// asked even if nobody waits for the answer. What has not the script's namespace in its name is noted only when the server
// says that it was made: nothing that was there before is ever removed.

// A place is what a path is about.
type place struct {
	collection        string // the path of all objects of the kind, in a namespace if they are in one
	name, subresource string
}

// placeOf takes a path apart; it is empty if the path is about no objects.
func placeOf(path string) place {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	head := 2 // api/v1
	if parts[0] == "apis" {
		head = 3
	}
	if len(parts) > head+2 && parts[head] == "namespaces" && !slices.Contains(namespaceSubresources, parts[head+2]) {
		head += 2
	}
	if len(parts) <= head {
		return place{}
	}
	p := place{collection: "/" + strings.Join(parts[:head+1], "/")}
	if rest := parts[head+1:]; len(rest) > 0 {
		p.name = rest[0]
		p.subresource = strings.Join(rest[1:], "/")
	}
	return p
}

// namespaceSubresources are what stands after a namespace's name and is no kind in it.
var namespaceSubresources = []string{"status", "finalize"}

// A trace is the path of an object, or, where the server chooses the name, of a collection.
type trace struct {
	path      string
	generated bool
	prefix    string // of generated names
}

// note keeps what a request may make. A dry run makes nothing, if the server is right; it may be wrong.
func (p *play) note(request *http.Request, body []byte) {
	at := placeOf(request.URL.Path)
	if at.collection == "" || at.subresource != "" {
		return
	}
	switch request.Method {
	case http.MethodPost:
		name, prefix := namesIn(request.Header.Get("Content-Type"), body)
		if name == "" {
			p.leave(trace{path: at.collection, generated: true, prefix: prefix})
			return
		}
		p.leave(trace{path: at.collection + "/" + name})
	case http.MethodPut, http.MethodPatch:
		p.leave(trace{path: at.collection + "/" + at.name})
	}
}

// leave notes a trace if it is the script's own.
func (p *play) leave(t trace) {
	if strings.Contains(t.path+t.prefix, p.variables.namespace) && !slices.Contains(p.traces, t) {
		p.traces = append(p.traces, t)
	}
}

// forget drops what was noted for a request, but for the traces before it, if the server has refused that request.
func (p *play) forget(before int, a *answer) {
	if a.code/100 == 4 {
		p.traces = p.traces[:before]
	}
}

// made notes what a request has made elsewhere than in the script's own names.
func (p *play) made(request *http.Request, a *answer) {
	at, name := placeOf(request.URL.Path), a.body.Lookup("metadata", "name").Text()
	isMade := a.code == http.StatusCreated && !request.URL.Query().Has("dryRun")
	if t := (trace{path: at.collection + "/" + name}); isMade && name != "" && at.subresource == "" && !slices.Contains(p.traces, t) {
		p.traces = append(p.traces, t)
	}
}

// namesIn reads the name of an object, or what its name shall begin with. What is no object has neither.
func namesIn(contentType string, body []byte) (name, prefix string) {
	value, err := parseBody(contentType, body)
	if err != nil || value.IsAbsent() {
		value, _ = document.ParseYAML(body) // JSON is YAML, too
	}
	return value.Lookup("metadata", "name").Text(), value.Lookup("metadata", "generateName").Text()
}

// found are the paths that a trace leads to.
func (s *server) found(ctx context.Context, t trace) ([]string, error) {
	if !t.generated {
		return []string{t.path}, nil
	}
	if t.prefix == "" && s.shared {
		return nil, nil // it would lead to everything
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

// clean removes what the script made, the last first, also when the run is over.
func (p *play) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.server.cleanTime)
	defer cancel()
	for _, watch := range p.watches {
		watch.stop()
	}
	before := len(p.server.stillPending())
	for _, t := range slices.Backward(p.traces) {
		paths, err := p.server.found(ctx, t)
		if err != nil {
			p.server.pend(t.path, err)
		}
		for _, path := range paths {
			p.server.remove(ctx, path)
		}
	}
	if p.server.shared {
		if len(p.server.stillPending()) > before {
			p.server.settle(ctx) // the next script has the same names
		}
		return
	}
	p.server.remove(ctx, namespacePath+p.variables.namespace)
}
