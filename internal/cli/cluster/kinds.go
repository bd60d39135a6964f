package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Kind is a resource of the server at one API version.
type Kind struct {
	Group, Version, Name string // for example apps, v1, Deployment
	Resource, Singular   string // for example deployments, deployment
	ShortNames           []string
	Categories           []string // for example all
	Namespaced           bool
	Verbs                []string
}

// APIVersion returns the apiVersion of the kind's objects.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// String returns the kind in kubectl's format, for example deployment.apps.
func (k Kind) String() string {
	name := strings.ToLower(k.Name)
	if k.Group != "" {
		name += "." + k.Group
	}
	return name
}

// SupportsVerbs reports whether the resource supports all of the verbs.
func (k Kind) SupportsVerbs(verbs ...string) bool {
	return !slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(k.Verbs, verb) })
}

// Kinds returns all kinds at all versions: the core group first, and the preferred version of a group before its other
// versions. The result is cached.
func (c *Cluster) Kinds(ctx context.Context) ([]Kind, error) {
	c.mu.Lock()
	kinds := c.kinds
	c.mu.Unlock()
	return kinds(ctx)
}

// Refresh clears the cached discovery and OpenAPI documents, so that the next call reads them again.
func (c *Cluster) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds = cacheSuccess(c.discover)
	clear(c.openAPI)
}

// UnknownKindError is the error for a kind that the server does not serve.
type UnknownKindError struct{ kind string }

// Summary returns the error message without the advice that Error adds.
func (e *UnknownKindError) Summary() string { return "the server does not serve the kind " + e.kind }

func (e *UnknownKindError) Error() string {
	return e.Summary() + "; kubectl api-resources lists the kinds that it serves"
}

// KindOf returns the kind for the apiVersion and kind of an object, or an *UnknownKindError.
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
	return Kind{}, &UnknownKindError{kind + " at " + apiVersion}
}

// FindKind returns the kind for a resource argument, such as deployments, deployment, deploy, deployments.apps or
// deployments.v1.apps, or an *UnknownKindError.
func (c *Cluster) FindKind(ctx context.Context, name string) (Kind, error) {
	all, err := c.Kinds(ctx)
	if err != nil {
		return Kind{}, err
	}
	for _, k := range all {
		if k.matchesName(strings.ToLower(name)) {
			return k, nil
		}
	}
	return Kind{}, &UnknownKindError{strconv.Quote(name)}
}

// FindKinds returns the kind that [Cluster.FindKind] returns for name or, if there is none, all kinds of the category with
// that name, each at all versions.
func (c *Cluster) FindKinds(ctx context.Context, name string) ([]Kind, error) {
	one, unknown := c.FindKind(ctx, name)
	if unknown == nil {
		return []Kind{one}, nil
	}
	all, err := c.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	matching := slices.DeleteFunc(slices.Clone(all), func(k Kind) bool { return !slices.Contains(k.Categories, name) })
	if len(matching) == 0 {
		return nil, unknown
	}
	return matching, nil
}

func (k Kind) matchesName(name string) bool {
	short, rest, qualified := strings.Cut(name, ".")
	if short != k.Resource && short != k.Singular && short != strings.ToLower(k.Name) && !slices.Contains(k.ShortNames, short) {
		return false
	}
	return !qualified || rest == k.Group || rest == k.Version+"."+k.Group || rest == k.Version && k.Group == ""
}
