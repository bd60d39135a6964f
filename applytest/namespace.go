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
// create namespaces sets Options.Namespace to an existing namespace, in which all scripts run, one at a time. A script is
// then skipped if it writes outside of that namespace, or if it uses a kind of which the namespace already contains objects.

// newNamespaceName returns a unique random name for a namespace.
func newNamespaceName() string { return "applytest-" + strings.ToLower(rand.Text()[:8]) }

// createNamespace creates the namespace with the given name. If hasResponse is false, the server did not respond, so the
// namespace may exist despite the error.
func (s *server) createNamespace(ctx context.Context, name string) (hasResponse bool, err error) {
	resp, err := s.create(ctx, "/api/v1/namespaces", document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("v1")},
		document.Field{Name: "kind", Value: document.NewString("Namespace")},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(name)})},
	))
	if err != nil {
		err = fmt.Errorf("create namespace %s: %w", name, err)
	}
	return resp != nil, err
}

// prepareNamespace creates the namespace for the runner's own requests. If Options.Namespace is set, prepareNamespace
// creates nothing and checks that this namespace can be used.
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
	resp, err := s.sendDryRun(ctx, http.MethodPost, "/configmaps?dryRun=All", body, "application/json", "application/json")
	if err != nil || resp.succeeded() {
		return err
	}
	return fmt.Errorf("namespace %s: expected an existing namespace that you may write to, received %s", s.runnerNamespace, cmp.Or(resp.body.Get("message").Text(), resp.summary()))
}

// sendDryRun sends a dry run that would create a ConfigMap in the runner's namespace. If the response contains a
// resourceVersion, the server has ignored dryRun and created the object; sendDryRun then deletes the object.
func (s *server) sendDryRun(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*serverResponse, error) {
	resp, err := s.sendAccepting(ctx, method, namespacePath+s.runnerNamespace+path, body, contentType, accept)
	if err != nil || !resp.succeeded() {
		return resp, err
	}
	if metadata := resp.body.Get("metadata"); metadata.Get("resourceVersion").Text() != "" {
		s.deleteProbe(ctx, namespacePath+s.runnerNamespace+"/configmaps/"+metadata.Get("name").Text(), "a dry run has created it")
	}
	return resp, nil
}

// deleteProbe deletes the object at path, which the runner created to probe the server, even after the run was canceled. If
// the deletion fails, the report lists the object as a leftover with the reason.
func (s *server) deleteProbe(ctx context.Context, path, reason string) {
	resp, err := s.send(context.WithoutCancel(ctx), http.MethodDelete, path, nil, "")
	if err != nil || !resp.succeeded() && resp.code != http.StatusNotFound {
		s.addPending(path, errors.New(reason))
	}
}

// removeNamespace deletes the namespace of the runner's own requests, unless it is Options.Namespace.
func (s *server) removeNamespace(ctx context.Context) {
	if !s.shared {
		s.remove(context.WithoutCancel(ctx), namespacePath+s.runnerNamespace)
	}
}

// checkNamespaceOptions returns an error if other options cannot be combined with Options.Namespace.
func (o *Options) checkNamespaceOptions(scripts []*Script) error {
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

// writesOutside reports whether the request writes to an object outside of the script's namespace.
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

// findExisting lists the collections of the shared namespace that scripts use. It stores in s.existing those that scripts
// cannot use, with the reason: the collection already contains objects, or the user may not list it.
func (s *server) findExisting(ctx context.Context, scripts []*Script) error {
	s.existing = map[string]string{}
	for _, script := range scripts {
		for _, collection := range script.collections() {
			if _, ok := s.existing[collection]; ok {
				continue
			}
			resp, err := s.send(ctx, http.MethodGet, strings.ReplaceAll(collection, "$NAMESPACE", s.runnerNamespace), nil, "")
			if err != nil {
				return err
			}
			s.existing[collection] = existingReason(collection, resp)
		}
	}
	return nil
}

// existingReason returns the reason why scripts cannot use collection, given resp, the response to a list of the collection.
// It returns "" if the collection contains no objects except clusterDefaults, or if the kind does not exist yet.
func existingReason(collection string, resp *serverResponse) string {
	resource := collection[strings.LastIndex(collection, "/")+1:]
	switch {
	case resp.code == http.StatusNotFound:
		return ""
	case !resp.succeeded():
		return fmt.Sprintf("the %s of the given namespace can't be listed: %s", resource, cmp.Or(resp.body.Get("message").Text(), resp.summary()))
	}
	for _, item := range resp.body.Get("items").Items() {
		if name := resource + "/" + item.Lookup("metadata", "name").Text(); !slices.Contains(clusterDefaults, name) {
			return name + " already exists in the given namespace, and the script may change objects of its kind"
		}
	}
	return ""
}
