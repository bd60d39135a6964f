package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Kind is a resource type at one version, as a server has it.
type Kind struct {
	Group, Version, Name string // apps, v1, Deployment
	Resource, Singular   string // deployments, deployment
	ShortNames           []string
	Namespaced           bool
	Verbs                []string
}

// APIVersion is what objects have.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// String names the kind as kubectl does: deployment.apps.
func (k Kind) String() string {
	name := strings.ToLower(k.Name)
	if k.Group != "" {
		name += "." + k.Group
	}
	return name
}

// Can reports whether all verbs are served.
func (k Kind) Can(verbs ...string) bool {
	return !slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(k.Verbs, verb) })
}

// Kinds returns all kinds at all versions, those of the core first, and the preferred version of each before
// the others.
func (c *Cluster) Kinds(ctx context.Context) ([]Kind, error) { return c.kinds(ctx) }

// KindOf finds a kind by what an object says.
func (c *Cluster) KindOf(ctx context.Context, apiVersion, kind string) (Kind, error) {
	all, err := c.Kinds(ctx)
	if err != nil {
		return Kind{}, err
	}
	for _, k := range all {
		if k.APIVersion() == apiVersion && k.Name == kind {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("the server does not have the kind %s at %s; kubectl api-resources lists those that it has", kind, apiVersion)
}

// FindKind finds a kind by what people call it: deployments, deployment, deploy, deployments.apps or
// deployments.v1.apps.
func (c *Cluster) FindKind(ctx context.Context, name string) (Kind, error) {
	all, err := c.Kinds(ctx)
	if err != nil {
		return Kind{}, err
	}
	for _, k := range all {
		if k.isCalled(strings.ToLower(name)) {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("the server does not have the kind %q; kubectl api-resources lists those that it has", name)
}

func (k Kind) isCalled(name string) bool {
	short, rest, qualified := strings.Cut(name, ".")
	if short != k.Resource && short != k.Singular && short != strings.ToLower(k.Name) && !slices.Contains(k.ShortNames, short) {
		return false
	}
	return !qualified || rest == k.Group || rest == k.Version+"."+k.Group || rest == k.Version && k.Group == ""
}

// discovery asks for all kinds in one answer, in the form of today and in the one before.
const discovery = jsonType + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	jsonType + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

func (c *Cluster) discover(ctx context.Context) ([]Kind, error) {
	var all []Kind
	for _, path := range []string{"/api", "/apis"} {
		body, err := c.send(ctx, request{method: http.MethodGet, path: path, accept: discovery})
		if err != nil {
			return nil, err
		}
		list, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
		if err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		if kind := list.Get("kind").Text(); kind != "APIGroupDiscoveryList" {
			return nil, fmt.Errorf("GET %s: expected an APIGroupDiscoveryList, which servers have since Kubernetes 1.27, received %q", path, kind)
		}
		all = append(all, readGroups(list)...)
	}
	return all, nil
}

func readGroups(list document.Value) []Kind {
	var all []Kind
	for _, group := range list.Get("items").Items() {
		for _, version := range group.Get("versions").Items() {
			for _, r := range version.Get("resources").Items() {
				all = append(all, readKind(group.Lookup("metadata", "name").Text(), version.Get("version").Text(), r))
			}
		}
	}
	return all
}

func readKind(group, version string, r document.Value) Kind {
	return Kind{
		Group: group, Version: version, Name: r.Lookup("responseKind", "kind").Text(),
		Resource: r.Get("resource").Text(), Singular: r.Get("singularResource").Text(),
		ShortNames: texts(r.Get("shortNames")), Verbs: texts(r.Get("verbs")),
		Namespaced: r.Get("scope").Text() == "Namespaced",
	}
}

func texts(list document.Value) []string {
	var all []string
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}
