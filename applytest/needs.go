package applytest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// probe checks whether s has a capability. missing is the reason if s lacks the capability, and "" if s has it. err
// reports that the probe itself failed.
type probe func(ctx context.Context, s *server) (missing string, err error)

// probes are the capabilities, other than kinds, that scripts may need ("needs: NAME").
var probes = map[string]probe{
	"crds":               probeCRDs,
	"unset":              probeUnset,
	"drop":               probeDrop,
	"no drop":            probeNoDrop,
	"cbor":               probeCBOR,
	"no controllers":     probeControllers,
	"garbage collection": probeGarbage,
}

// isKnownNeed reports whether need, the value of a needs directive, is valid: the name of a capability, or a kind such as
// "apps/v1 deployments".
func isKnownNeed(need string) bool {
	_, ok := probes[need]
	version, resource, isKind := strings.Cut(need, " ")
	return ok || isKind && groupVersion.MatchString(version) && resource != ""
}

func capabilityNames() string {
	names := slices.Sorted(maps.Keys(probes))
	return strings.Join(names, ", ") + ` or a kind such as "apps/v1 deployments"`
}

// skipReason returns the reason why a script cannot run on this server; "" if it can run.
func (s *server) skipReason(ctx context.Context, script *Script) (string, error) {
	if script.Only != "" && script.Only != s.implementation {
		return "only " + script.Only + ": " + script.OnlyReason, nil
	}
	for _, need := range slices.Concat(script.Needs, script.kinds()) {
		missing, err := s.missingReason(ctx, need)
		if err != nil {
			return "", fmt.Errorf("needs: %s: %w", need, err)
		}
		if missing != "" {
			return missing, nil
		}
	}
	if s.shared {
		return s.sharedSkipReason(script), nil
	}
	return "", nil
}

// kinds returns the Kubernetes kinds that the server must serve for the script: those in short addresses such as "apps/v1
// deployments/web". It omits kinds of custom groups, because the script itself creates their CustomResourceDefinitions.
func (s *Script) kinds() []string {
	var kinds []string
	for _, step := range s.steps {
		kind := step.request.kind
		version, _, _ := strings.Cut(kind, " ")
		group, _, _ := strings.Cut(version, "/")
		if kind != "" && (!strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// missingReason returns the reason why the server lacks the capability need; "" if the server has the capability. Each
// capability is probed only once.
func (s *server) missingReason(ctx context.Context, need string) (string, error) {
	s.mu.Lock()
	once, ok := s.capabilities[need]
	if !ok {
		ask := probes[need]
		if ask == nil {
			ask = func(ctx context.Context, s *server) (string, error) { return probeKind(ctx, s, need) }
		}
		once = sync.OnceValues(func() (string, error) { return ask(ctx, s) })
		s.capabilities[need] = once
	}
	s.mu.Unlock()
	return once()
}

// checkProbe returns resp and err, or an error if resp does not show whether the server has a capability: the user may not
// send the request of the probe, or the server is overloaded.
func (s *server) checkProbe(resp *serverResponse, err error) (*serverResponse, error) {
	if err != nil {
		return resp, err
	}
	if resp.code == http.StatusTooManyRequests || resp.code == http.StatusServiceUnavailable {
		return resp, errors.New(resp.summary())
	}
	return resp, s.permissionErrorOf(resp)
}

func probeCRDs(ctx context.Context, s *server) (string, error) {
	return probeKind(ctx, s, "apiextensions.k8s.io/v1 customresourcedefinitions")
}

func probeKind(ctx context.Context, s *server, need string) (string, error) {
	version, resource, _ := strings.Cut(need, " ")
	path := versionPath(version)
	resp, err := s.checkProbe(s.send(ctx, http.MethodGet, path, nil, ""))
	switch {
	case err != nil:
		return "", err
	case resp.code == http.StatusNotFound && version != "v1":
		return "the server does not serve " + need, nil
	case !resp.succeeded() || resp.body.Get("kind").Text() != "APIResourceList":
		// The response does not show which kinds the server has. A 404 for v1 is an error, too, because namespaces are
		// in that group.
		return "", fmt.Errorf("GET %s: expected an APIResourceList, received %s", path, resp.summary())
	}
	for _, served := range resp.body.Get("resources").Items() {
		if served.Get("name").Text() == resource {
			return "", nil
		}
	}
	return "the server does not serve " + need, nil
}

// probeUnset checks that the server supports unset markers: it applies a marker in place of a string, which servers
// without support reject.
func probeUnset(ctx context.Context, s *server) (string, error) {
	const path = "/configmaps/applytest-unset?fieldManager=applytest&dryRun=All"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applytest-unset"},"data":{"a":{"k8s_io__value":"unset"}}}`)
	resp, err := s.checkProbe(s.sendDryRun(ctx, http.MethodPatch, path, body, "application/apply-patch+yaml", "application/json"))
	if err != nil || resp.succeeded() {
		return "", err
	}
	return "the server does not support unset markers", nil
}

// probeDrop checks that the server supports the Accept parameter drop: it requests a response without managedFields.
func probeDrop(ctx context.Context, s *server) (string, error) {
	const path = "/configmaps/applytest-drop?fieldManager=applytest&dryRun=All"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applytest-drop"},"data":{"a":"1"}}`)
	resp, err := s.checkProbe(s.sendDryRun(ctx, http.MethodPatch, path, body, "application/apply-patch+yaml", "application/json;drop=metadata.managedFields"))
	if err != nil || resp.succeeded() && resp.body.Lookup("metadata", "managedFields").IsAbsent() {
		return "", err
	}
	return "the server does not support drop=metadata.managedFields", nil
}

// probeNoDrop checks that the server does not support the Accept parameter drop, or that its feature gate is disabled.
func probeNoDrop(ctx context.Context, s *server) (string, error) {
	missing, err := probeDrop(ctx, s)
	if err != nil || missing != "" {
		return "", err
	}
	return "the server supports drop=metadata.managedFields", nil
}

// probeCBOR checks that the server responds in CBOR, which Kubernetes supports only with a feature gate.
func probeCBOR(ctx context.Context, s *server) (string, error) {
	resp, err := s.checkProbe(s.sendAccepting(ctx, http.MethodGet, namespacePath+s.runnerNamespace, nil, "", "application/cbor"))
	if err != nil || resp.succeeded() && strings.HasPrefix(resp.header.Get("Content-Type"), "application/cbor") {
		return "", err
	}
	return "the server does not support CBOR", nil
}

// probeControllers checks that controllers are running: it looks for an object that they create in every namespace. In
// a new namespace this object may not exist yet, so probeControllers checks an older namespace.
func probeControllers(ctx context.Context, s *server) (string, error) {
	namespace := "default"
	if s.shared {
		namespace = s.runnerNamespace
	}
	resp, err := s.checkProbe(s.send(ctx, http.MethodGet, namespacePath+namespace+"/serviceaccounts/default", nil, ""))
	if err == nil && resp.succeeded() {
		return "controllers are running and write to the same objects", nil
	}
	return "", err
}

// garbageTimeout is the maximum time within which a garbage collector must delete an object whose ownerReference refers to a
// missing object.
const garbageTimeout = 5 * time.Second

// probeGarbage checks that the server has a garbage collector: it creates an object with an ownerReference to a missing
// object and waits for its deletion. If the object is not deleted, probeGarbage deletes it, because Options.Namespace is not
// deleted at the end.
func probeGarbage(ctx context.Context, s *server) (string, error) {
	collection := namespacePath + s.runnerNamespace + "/configmaps"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"applytest-garbage-",` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"applytest-nobody","uid":"00000000-0000-0000-0000-000000000000"}]}}`)
	made, err := s.checkProbe(s.send(ctx, http.MethodPost, collection, body, "application/json"))
	if err != nil {
		return "", err
	}
	if !made.succeeded() {
		return "", fmt.Errorf("POST %s: %s", collection, made.summary())
	}
	path := collection + "/" + made.body.Lookup("metadata", "name").Text()
	for end := time.Now().Add(garbageTimeout); err == nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var resp *serverResponse
		if resp, err = s.send(ctx, http.MethodGet, path, nil, ""); err == nil && resp.code == http.StatusNotFound {
			return "", nil
		}
	}
	s.deleteProbe(ctx, path, "created to probe garbage collection")
	return "the server has no garbage collector", err
}
