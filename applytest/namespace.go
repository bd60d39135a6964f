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

// Every script has its own namespace, which is created before and deleted after the script. A user without permission
// to create namespaces passes an existing one (Options.Namespace), which all scripts share; they run there one at a
// time. Scripts that write outside of it are skipped, and so are scripts whose kinds already have objects in it.

// newNamespaceName returns a unique name.
func newNamespaceName() string { return "applytest-" + strings.ToLower(rand.Text()[:8]) }

// createNamespace creates a namespace. If isAnswered is false, there was no response, and the namespace may exist
// despite the error.
func (s *server) createNamespace(ctx context.Context, name string) (isAnswered bool, err error) {
	a, err := s.create(ctx, "/api/v1/namespaces", document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("v1")},
		document.Field{Name: "kind", Value: document.NewString("Namespace")},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(name)})},
	))
	if err != nil {
		err = fmt.Errorf("create namespace %s: %w", name, err)
	}
	return a != nil, err
}

// prepareNamespace creates the namespace for the runner's own requests, or checks the given one.
func (s *server) prepareNamespace(ctx context.Context, scripts []*Script) (err error) {
	if s.allPermissions, err = s.hasAllPermissions(ctx); err != nil {
		return err
	}
	if s.shared {
		if err := s.checkNamespace(ctx); err != nil {
			return err
		}
		return s.findExisting(ctx, scripts)
	}
	s.runnerNamespace = newNamespaceName()
	isAnswered, err := s.createNamespace(ctx, s.runnerNamespace)
	if err == nil {
		return nil
	}
	if !isAnswered && !s.gone.Load() {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.runnerNamespace)
	}
	advice := ""
	if isPermissionError(err) {
		advice = "; use an existing namespace that you may write to (--namespace)"
	}
	return fmt.Errorf("creating a namespace per script: %w%s", err, advice)
}

// checkNamespace checks with a dry run that the given namespace exists: a list in a missing namespace would only be
// empty.
func (s *server) checkNamespace(ctx context.Context) error {
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"applytest-"}}`)
	a, err := s.sendDryRun(ctx, http.MethodPost, "/configmaps?dryRun=All", body, "application/json", "application/json")
	if err != nil || a.succeeded() {
		return err
	}
	return fmt.Errorf("namespace %s: expected an existing namespace that you may write to, received %s", s.runnerNamespace, cmp.Or(a.body.Get("message").Text(), a.summary()))
}

// sendDryRun sends a dry run that would create a ConfigMap in the runner's namespace. If the response has a
// resourceVersion, the server ignored dryRun and created the object, which is then deleted.
func (s *server) sendDryRun(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*serverResponse, error) {
	a, err := s.sendAccepting(ctx, method, namespacePath+s.runnerNamespace+path, body, contentType, accept)
	if err != nil || !a.succeeded() {
		return a, err
	}
	if metadata := a.body.Get("metadata"); metadata.Get("resourceVersion").Text() != "" {
		s.deleteProbe(ctx, namespacePath+s.runnerNamespace+"/configmaps/"+metadata.Get("name").Text(), "a dry run has created it")
	}
	return a, nil
}

// deleteProbe deletes an object that was created to probe the server, also after the run was canceled.
func (s *server) deleteProbe(ctx context.Context, path, reason string) {
	a, err := s.send(context.WithoutCancel(ctx), http.MethodDelete, path, nil, "")
	if err != nil || !a.succeeded() && a.code != http.StatusNotFound {
		s.addPending(path, errors.New(reason))
	}
}

// removeNamespace deletes the namespace for the runner's own requests, unless it was given.
func (s *server) removeNamespace(ctx context.Context) {
	if !s.shared {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.runnerNamespace)
	}
}

// checkShared returns an error for options that do not work in one shared namespace.
func (o *Options) checkShared(scripts []*Script) error {
	if o.Namespace != "" && o.Keep && len(scripts) > 1 {
		return errors.New("Options.Keep: expected one script with Options.Namespace, received several; select one by its name")
	}
	return nil
}

// sharedSkipReason returns why a script can't run in the given namespace; empty if it can.
func (s *server) sharedSkipReason(script *Script) string {
	for _, step := range script.steps {
		if step.request.writesOutside() {
			return "it writes outside of the given namespace"
		}
	}
	for _, collection := range script.collections() {
		if existing := s.existing[collection]; existing != "" {
			return existing
		}
	}
	return ""
}

// writesOutside reports whether a request writes outside of the script's namespace.
func (r *request) writesOutside() bool {
	return r.wait == 0 && r.verb.method != http.MethodGet && !strings.Contains(parseResourcePath(r.path).collection, scriptNamespacePath)
}

const scriptNamespacePath = "/namespaces/$NAMESPACE/"

// collections returns the paths of the collections that the script uses in its namespace.
func (s *Script) collections() []string {
	var paths []string
	for _, step := range s.steps {
		at := parseResourcePath(step.request.path)
		if strings.Contains(at.collection, scriptNamespacePath) && !slices.Contains(paths, at.collection) {
			paths = append(paths, at.collection)
		}
	}
	return paths
}

// clusterDefaults are the objects that a cluster creates in every namespace. No script writes to them.
var clusterDefaults = []string{"configmaps/kube-root-ca.crt", "serviceaccounts/default"}

// findExisting stores why scripts can't use a collection of the given namespace: it already has objects, or the user
// may not list them.
func (s *server) findExisting(ctx context.Context, scripts []*Script) error {
	s.existing = map[string]string{}
	for _, script := range scripts {
		for _, collection := range script.collections() {
			if _, ok := s.existing[collection]; ok {
				continue
			}
			a, err := s.send(ctx, http.MethodGet, strings.ReplaceAll(collection, "$NAMESPACE", s.runnerNamespace), nil, "")
			if err != nil {
				return err
			}
			s.existing[collection] = existingReason(collection, a)
		}
	}
	return nil
}

// existingReason returns why scripts can't use a collection; empty if they can because it has no objects but the
// cluster's defaults, or because the kind does not exist yet.
func existingReason(collection string, a *serverResponse) string {
	resource := collection[strings.LastIndex(collection, "/")+1:]
	switch {
	case a.code == http.StatusNotFound:
		return ""
	case !a.succeeded():
		return fmt.Sprintf("the %s of the given namespace can't be listed: %s", resource, cmp.Or(a.body.Get("message").Text(), a.summary()))
	}
	for _, item := range a.body.Get("items").Items() {
		if name := resource + "/" + item.Lookup("metadata", "name").Text(); !slices.Contains(clusterDefaults, name) {
			return name + " already exists in the given namespace, and the script may change objects of its kind"
		}
	}
	return ""
}
