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

// Every script has its own namespace, which is created before and deleted after the script. A user without permission to
// create namespaces passes an existing namespace (Options.Namespace), in which all scripts run, one at a time. Scripts that
// write outside of that namespace are skipped, and so are scripts for a kind of which the namespace already contains objects.

// newNamespaceName returns a unique random name for a namespace.
func newNamespaceName() string { return "applytest-" + strings.ToLower(rand.Text()[:8]) }

// createNamespace creates a namespace. If hasResponse is false, the server did not respond, so the namespace may exist
// despite the error.
func (s *server) createNamespace(ctx context.Context, name string) (hasResponse bool, err error) {
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

// prepareNamespace creates the namespace for the runner's own requests. If Options.Namespace is set, it checks that
// namespace instead.
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
	hasResponse, err := s.createNamespace(ctx, s.runnerNamespace)
	if err == nil {
		return nil
	}
	if !hasResponse && !s.gone.Load() {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.runnerNamespace)
	}
	advice := ""
	if isPermissionError(err) {
		advice = "; use an existing namespace that you may write to (--namespace)"
	}
	return fmt.Errorf("creating a namespace per script: %w%s", err, advice)
}

// checkNamespace checks with a dry run that the namespace of Options.Namespace exists. A list request could not check
// this: the list of objects in a missing namespace is empty, not an error.
func (s *server) checkNamespace(ctx context.Context) error {
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"applytest-"}}`)
	a, err := s.sendDryRun(ctx, http.MethodPost, "/configmaps?dryRun=All", body, "application/json", "application/json")
	if err != nil || a.succeeded() {
		return err
	}
	return fmt.Errorf("namespace %s: expected an existing namespace that you may write to, received %s", s.runnerNamespace, cmp.Or(a.body.Get("message").Text(), a.summary()))
}

// sendDryRun sends a dry run that would create a ConfigMap in the runner's namespace. If the response contains a
// resourceVersion, the server has ignored dryRun and created the object, which is then deleted.
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

// deleteProbe deletes an object that the runner created to probe the server, even after the run was canceled.
func (s *server) deleteProbe(ctx context.Context, path, reason string) {
	a, err := s.send(context.WithoutCancel(ctx), http.MethodDelete, path, nil, "")
	if err != nil || !a.succeeded() && a.code != http.StatusNotFound {
		s.addPending(path, errors.New(reason))
	}
}

// removeNamespace deletes the namespace of the runner's own requests, unless it is Options.Namespace.
func (s *server) removeNamespace(ctx context.Context) {
	if !s.shared {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.runnerNamespace)
	}
}

// checkShared returns an error for options that cannot be combined with Options.Namespace.
func (o *Options) checkShared(scripts []*Script) error {
	if o.Namespace != "" && o.Keep && len(scripts) > 1 {
		return errors.New("Options.Keep: expected one script with Options.Namespace, received several; select one by its name")
	}
	return nil
}

// sharedSkipReason returns the reason why a script cannot run in the shared namespace (Options.Namespace); "" if it can
// run there.
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

// collections returns the paths of the collections in the script's namespace that the script uses.
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

// clusterDefaults are the objects that controllers of a cluster create in every namespace. No script writes to them.
var clusterDefaults = []string{"configmaps/kube-root-ca.crt", "serviceaccounts/default"}

// findExisting determines which collections of the shared namespace scripts cannot use: collections that already
// contain objects, and collections that the user may not list. It stores the reasons in s.existing.
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

// existingReason returns the reason why scripts cannot use a collection. It returns "" if the collection contains no
// objects except clusterDefaults, or if the kind does not exist yet. a is the response to a list of the collection.
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
