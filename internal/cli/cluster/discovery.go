package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/document"
)

// aggregatedDiscovery is the Accept header for aggregated discovery at v2 or v2beta1. Servers that do not support it respond
// with unaggregated documents.
const aggregatedDiscovery = jsonType + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	jsonType + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + jsonType

// discover reads all kinds that the server serves, with aggregated or unaggregated discovery.
func (c *Cluster) discover(ctx context.Context) ([]Kind, error) {
	var all []Kind
	for _, path := range []string{"/api", "/apis"} {
		list, err := c.getDiscovery(ctx, path)
		if err != nil {
			return nil, err
		}
		var kinds []Kind
		switch kind := list.Get("kind").Text(); kind {
		case "APIGroupDiscoveryList":
			kinds = readGroups(list)
		case "APIVersions", "APIGroupList":
			kinds, err = c.discoverGroupVersions(ctx, groupVersions(list))
		default:
			err = fmt.Errorf("GET %s: expected an APIGroupDiscoveryList, APIVersions or APIGroupList, received %q: is this a Kubernetes API server?", path, kind)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, kinds...)
	}
	return all, nil
}

func (c *Cluster) getDiscovery(ctx context.Context, path string) (document.Value, error) {
	body, err := c.send(ctx, request{method: http.MethodGet, path: path, accept: aggregatedDiscovery})
	if err != nil {
		return document.Value{}, err
	}
	doc, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil {
		return doc, fmt.Errorf("GET %s: %w", path, err)
	}
	return doc, nil
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
		ShortNames: textItems(r.Get("shortNames")), Categories: textItems(r.Get("categories")), Verbs: textItems(r.Get("verbs")),
		Namespaced: r.Get("scope").Text() == "Namespaced",
	}
}

// groupVersion is an API group and version, for which unaggregated discovery (before Kubernetes 1.27) has one document.
type groupVersion struct{ group, version string }

func (g groupVersion) path() string {
	if g.group == "" {
		return "/api/" + g.version
	}
	return "/apis/" + g.group + "/" + g.version
}

// groupVersions returns the group versions in an APIVersions or APIGroupList document. The preferred version of a group
// precedes its other versions.
func groupVersions(list document.Value) []groupVersion {
	var all []groupVersion
	for _, version := range textItems(list.Get("versions")) {
		all = append(all, groupVersion{"", version})
	}
	for _, group := range list.Get("groups").Items() {
		name := group.Get("name").Text()
		preferred := group.Lookup("preferredVersion", "version").Text()
		var versions []string
		for _, v := range group.Get("versions").Items() {
			versions = append(versions, v.Get("version").Text())
		}
		slices.SortStableFunc(versions, func(a, b string) int { return versionRank(a, preferred) - versionRank(b, preferred) })
		for _, version := range versions {
			all = append(all, groupVersion{name, version})
		}
	}
	return all
}

func versionRank(version, preferred string) int {
	if version == preferred {
		return 0
	}
	return 1
}

// maxParallelRequests is the maximum number of parallel requests of unaggregated discovery.
const maxParallelRequests = 8

// discoverGroupVersions reads the resources of each group version. It skips groups whose document the server does not
// return, such as those of an unavailable aggregated API server; the core group is required.
func (c *Cluster) discoverGroupVersions(ctx context.Context, versions []groupVersion) ([]Kind, error) {
	found := make([][]Kind, len(versions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelRequests)
	for i, version := range versions {
		group.Go(func() error {
			list, err := c.getDiscovery(ctx, version.path())
			if refused := (*Error)(nil); version.group != "" && errors.As(err, &refused) {
				return nil
			}
			if err == nil {
				found[i] = readResources(version, list)
			}
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(found...), err
}

// readResources returns the kinds in an APIResourceList. It skips subresources, whose names contain a slash.
func readResources(version groupVersion, list document.Value) []Kind {
	var all []Kind
	for _, r := range list.Get("resources").Items() {
		name, kind := r.Get("name").Text(), r.Get("kind").Text()
		if strings.Contains(name, "/") {
			continue
		}
		singular := r.Get("singularName").Text()
		if singular == "" {
			singular = strings.ToLower(kind) // kubectl's default if the server sends no singular name
		}
		all = append(all, Kind{
			Group: version.group, Version: version.version, Name: kind, Resource: name, Singular: singular,
			ShortNames: textItems(r.Get("shortNames")), Categories: textItems(r.Get("categories")), Verbs: textItems(r.Get("verbs")),
			Namespaced: r.Get("namespaced").Bool(),
		})
	}
	return all
}

func textItems(list document.Value) []string {
	var all []string
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}
