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

// A probe says what a server lacks for an ability; nothing if it has it.
type probe func(ctx context.Context, s *server) (lack string, err error)

// probes are the abilities that scripts may need, beside kinds.
var probes = map[string]probe{
	"crds":               probeCRDs,
	"unset":              probeUnset,
	"drop":               probeDrop,
	"no drop":            probeNoDrop,
	"cbor":               probeCBOR,
	"no controllers":     probeControllers,
	"garbage collection": probeGarbage,
}

// known says whether a script may need this: an ability, or a kind such as "apps/v1 deployments".
func known(need string) bool {
	_, ok := probes[need]
	version, resource, isKind := strings.Cut(need, " ")
	return ok || isKind && groupVersion.MatchString(version) && resource != ""
}

func abilityNames() string {
	names := slices.Sorted(maps.Keys(probes))
	return strings.Join(names, ", ") + ` or a kind such as "apps/v1 deployments"`
}

// skipReason says why a script can't be asked of this server; empty if it can.
func (s *server) skipReason(ctx context.Context, script *Script) (string, error) {
	if script.Only != "" && script.Only != s.implementation {
		return "only " + script.Only + ": " + script.OnlyReason, nil
	}
	for _, need := range slices.Concat(script.Needs, script.kinds()) {
		lack, err := s.lacks(ctx, need)
		if err != nil {
			return "", fmt.Errorf("needs: %s: %w", need, err)
		}
		if lack != "" {
			return lack, nil
		}
	}
	if s.shared {
		return s.crowded(script), nil
	}
	return "", nil
}

// kinds are those of Kubernetes that the script's short addresses are about. What has another group is made by
// the script itself.
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

// lacks asks the server once for each ability.
func (s *server) lacks(ctx context.Context, need string) (string, error) {
	s.mu.Lock()
	once, ok := s.abilities[need]
	if !ok {
		ask := probes[need]
		if ask == nil {
			ask = func(ctx context.Context, s *server) (string, error) { return probeKind(ctx, s, need) }
		}
		once = sync.OnceValues(func() (string, error) { return ask(ctx, s) })
		s.abilities[need] = once
	}
	s.mu.Unlock()
	return once()
}

// probed turns an answer that says nothing about an ability into an error: the user may not ask, or the server is busy.
func (s *server) probed(a *answer, err error) (*answer, error) {
	if err != nil {
		return a, err
	}
	if a.code == http.StatusTooManyRequests || a.code == http.StatusServiceUnavailable {
		return a, errors.New(a.summary())
	}
	return a, s.denies(a)
}

func probeCRDs(ctx context.Context, s *server) (string, error) {
	return probeKind(ctx, s, "apiextensions.k8s.io/v1 customresourcedefinitions")
}

func probeKind(ctx context.Context, s *server, need string) (string, error) {
	version, resource, _ := strings.Cut(need, " ")
	path := versionPath(version)
	a, err := s.probed(s.send(ctx, http.MethodGet, path, nil, ""))
	switch {
	case err != nil:
		return "", err
	case a.code == http.StatusNotFound && version != "v1":
		return "the server has no " + need, nil
	case !a.succeeded() || a.body.Get("kind").Text() != "APIResourceList":
		// It says nothing of what it has, and not that it lacks it: a group that namespaces are in is there.
		return "", fmt.Errorf("GET %s: expected the kinds that are served, received %s", path, a.summary())
	}
	for _, served := range a.body.Get("resources").Items() {
		if served.Get("name").Text() == resource {
			return "", nil
		}
	}
	return "the server has no " + need, nil
}

// probeUnset applies a marker where only a server that knows markers accepts one.
func probeUnset(ctx context.Context, s *server) (string, error) {
	const path = "/configmaps/applytest-unset?fieldManager=applytest&dryRun=All"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applytest-unset"},"data":{"a":{"k8s_io__value":"unset"}}}`)
	a, err := s.probed(s.rehearse(ctx, http.MethodPatch, path, body, "application/apply-patch+yaml", "application/json"))
	if err != nil || a.succeeded() {
		return "", err
	}
	return "the server does not know unset markers", nil
}

// probeDrop asks for an answer without managedFields.
func probeDrop(ctx context.Context, s *server) (string, error) {
	const path = "/configmaps/applytest-drop?fieldManager=applytest&dryRun=All"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applytest-drop"},"data":{"a":"1"}}`)
	a, err := s.probed(s.rehearse(ctx, http.MethodPatch, path, body, "application/apply-patch+yaml", "application/json;drop=metadata.managedFields"))
	if err != nil || a.succeeded() && a.body.Lookup("metadata", "managedFields").IsAbsent() {
		return "", err
	}
	return "the server does not leave out managedFields", nil
}

// probeNoDrop is for servers that do not know the parameter, or have switched it off.
func probeNoDrop(ctx context.Context, s *server) (string, error) {
	lack, err := probeDrop(ctx, s)
	if err != nil || lack != "" {
		return "", err
	}
	return "the server leaves out managedFields", nil
}

// probeCBOR asks for an answer that Kubernetes has only behind a gate.
func probeCBOR(ctx context.Context, s *server) (string, error) {
	a, err := s.probed(s.sendAccepting(ctx, http.MethodGet, namespacePath+s.home, nil, "", "application/cbor"))
	if err != nil || a.succeeded() && strings.HasPrefix(a.header.Get("Content-Type"), "application/cbor") {
		return "", err
	}
	return "the server has no CBOR", nil
}

// probeControllers looks for what controllers do to every namespace. One that was just made may not have it yet.
func probeControllers(ctx context.Context, s *server) (string, error) {
	namespace := "default"
	if s.shared {
		namespace = s.home
	}
	a, err := s.probed(s.send(ctx, http.MethodGet, namespacePath+namespace+"/serviceaccounts/default", nil, ""))
	if err == nil && a.succeeded() {
		return "controllers run here, and write to the same objects", nil
	}
	return "", err
}

// garbageWait is how long a collector may take to find what nobody owns.
const garbageWait = 5 * time.Second

// probeGarbage makes an object whose owner does not exist, and waits for somebody to delete it. However that ends, the
// object goes: in a namespace that was given nobody else would remove it.
func probeGarbage(ctx context.Context, s *server) (string, error) {
	collection := namespacePath + s.home + "/configmaps"
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"applytest-garbage-",` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"applytest-nobody","uid":"00000000-0000-0000-0000-000000000000"}]}}`)
	made, err := s.probed(s.send(ctx, http.MethodPost, collection, body, "application/json"))
	if err != nil {
		return "", err
	}
	if !made.succeeded() {
		return "", fmt.Errorf("POST %s: %s", collection, made.summary())
	}
	path := collection + "/" + made.body.Lookup("metadata", "name").Text()
	for end := time.Now().Add(garbageWait); err == nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var a *answer
		if a, err = s.send(ctx, http.MethodGet, path, nil, ""); err == nil && a.code == http.StatusNotFound {
			return "", nil
		}
	}
	s.discard(ctx, path, "it was made to see whether garbage is collected")
	return "nobody collects garbage here", err
}
