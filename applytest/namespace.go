package applytest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Every script has a namespace of its own, made for it and removed after it. Somebody who may not make namespaces gives
// one instead, which all scripts share: they run there one after the other. Those that write to anything else are skipped,
// and so are those that would meet what was there before.

// newNamespaceName chooses a name that nobody else has.
func newNamespaceName() string { return "applytest-" + strings.ToLower(rand.Text()[:8]) }

// makeNamespace makes a namespace, such as the one that a script has for itself. If that fails without an answer, it
// may be there all the same.
func (s *server) makeNamespace(ctx context.Context, name string) (isAnswered bool, err error) {
	a, err := s.create(ctx, "/api/v1/namespaces", document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("v1")},
		document.Field{Name: "kind", Value: document.NewString("Namespace")},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(name)})},
	))
	if err != nil {
		err = fmt.Errorf("make the namespace %s: %w", name, err)
	}
	return a != nil, err
}

// settleIn makes the namespace for what the runner itself tries, if none is given.
func (s *server) settleIn(ctx context.Context, scripts []*Script) (err error) {
	if s.allowed, err = s.mayEverything(ctx); err != nil {
		return err
	}
	if s.shared {
		if err := s.tryHome(ctx); err != nil {
			return err
		}
		return s.lookAround(ctx, scripts)
	}
	s.home = newNamespaceName()
	isAnswered, err := s.makeNamespace(ctx, s.home)
	if err == nil {
		return nil
	}
	if !isAnswered && !s.gone.Load() {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.home)
	}
	advice := ""
	if isDenial(err) {
		advice = "; name one that you may use (--namespace)"
	}
	return fmt.Errorf("every script needs a namespace of its own: %w%s", err, advice)
}

// tryHome finds out whether the namespace that was given is there: a list of what is in it would only be empty.
func (s *server) tryHome(ctx context.Context) error {
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"applytest-"}}`)
	a, err := s.rehearse(ctx, http.MethodPost, "/configmaps?dryRun=All", body, "application/json", "application/json")
	if err != nil || a.succeeded() {
		return err
	}
	return fmt.Errorf("namespace %s: expected one that is there and that you may write to, received %s", s.home, cmp.Or(a.body.Get("message").Text(), a.summary()))
}

// rehearse sends a dry run that would make a ConfigMap in the runner's own namespace. One that has a version all the
// same was made, by a server that does not know what a dry run is: it goes again.
func (s *server) rehearse(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*answer, error) {
	a, err := s.sendAccepting(ctx, method, namespacePath+s.home+path, body, contentType, accept)
	if err != nil || !a.succeeded() {
		return a, err
	}
	if metadata := a.body.Get("metadata"); metadata.Get("resourceVersion").Text() != "" {
		s.discard(ctx, namespacePath+s.home+"/configmaps/"+metadata.Get("name").Text(), "a dry run has made it")
	}
	return a, nil
}

// discard deletes what was made to try something, also when the run is over.
func (s *server) discard(ctx context.Context, path, why string) {
	a, err := s.send(context.WithoutCancel(ctx), http.MethodDelete, path, nil, "")
	if err != nil || !a.succeeded() && a.code != http.StatusNotFound {
		s.pend(path, errors.New(why))
	}
}

// leaveHome removes the namespace of what the runner itself tried, unless it was given.
func (s *server) leaveHome(ctx context.Context) {
	if !s.shared {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.home)
	}
}

// checkShared refuses what can't be done in one namespace.
func (o *Options) checkShared(scripts []*Script) error {
	if o.Namespace != "" && o.Keep && len(scripts) > 1 {
		return errors.New("what scripts make in one namespace can be kept of one script only: choose it by its name")
	}
	return nil
}

// crowded says why a script can't run in a namespace that was given; empty if it can.
func (s *server) crowded(script *Script) string {
	for _, step := range script.steps {
		if step.request.writesOutside() {
			return "it writes to more than what is in the namespace that was given"
		}
	}
	for _, collection := range script.collections() {
		if present := s.present[collection]; present != "" {
			return present
		}
	}
	return ""
}

// writesOutside says whether a request is for something that is not in the script's namespace.
func (r *request) writesOutside() bool {
	return r.wait == 0 && r.verb.method != http.MethodGet && !strings.Contains(placeOf(r.path).collection, inScriptsNamespace)
}

const inScriptsNamespace = "/namespaces/$NAMESPACE/"

// collections are the paths of what the script makes in its namespace.
func (s *Script) collections() []string {
	var paths []string
	for _, step := range s.steps {
		at := placeOf(step.request.path)
		if strings.Contains(at.collection, inScriptsNamespace) && !slices.Contains(paths, at.collection) {
			paths = append(paths, at.collection)
		}
	}
	return paths
}

// furniture is what a cluster puts into every namespace. No script writes to it.
var furniture = []string{"configmaps/kube-root-ca.crt", "serviceaccounts/default"}

// lookAround notes why scripts can't be about a kind in a namespace that was given: something is there already, or the
// user may not see what is.
func (s *server) lookAround(ctx context.Context, scripts []*Script) error {
	s.present = map[string]string{}
	for _, script := range scripts {
		for _, collection := range script.collections() {
			if _, ok := s.present[collection]; ok {
				continue
			}
			a, err := s.send(ctx, http.MethodGet, strings.ReplaceAll(collection, "$NAMESPACE", s.home), nil, "")
			if err != nil {
				return err
			}
			s.present[collection] = guest(collection, a)
		}
	}
	return nil
}

// guest says what hinders scripts about a collection; empty if nothing does, as the kind has no object but the
// furniture, or is yet to be made.
func guest(collection string, a *answer) string {
	resource := collection[strings.LastIndex(collection, "/")+1:]
	switch {
	case a.code == http.StatusNotFound:
		return ""
	case !a.succeeded():
		return fmt.Sprintf("nobody knows which %s were in the namespace before: %s", resource, cmp.Or(a.body.Get("message").Text(), a.summary()))
	}
	for _, item := range a.body.Get("items").Items() {
		if name := resource + "/" + item.Lookup("metadata", "name").Text(); !slices.Contains(furniture, name) {
			return name + " was in the namespace before, and the script may change objects of its kind"
		}
	}
	return ""
}
