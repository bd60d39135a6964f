package discovery

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/ownership"
)

// parameter is a path or query parameter in an OpenAPI document.
type parameter struct {
	name        string
	in          string // in is "path" or "query".
	valueType   string
	description string
	// key is the name under which OpenAPI v2 documents declare the parameter once, so that operations can reference it. It is
	// "" for parameters that operations declare inline, such as dryRun and fieldValidation, which kubectl expects there.
	key string
}

const takeOverDescription = "Not in Kubernetes: " + ownership.FromClientSideApply + " makes an apply first take over all fields that client-side apply " +
	"of kubectl owns, so that fields that the configuration omits are removed, and there are no conflicts with it. Only for apply, and not for subresources."

// parameters holds the parameters of each type of request.
type parameters struct {
	namespace, pretty parameter
	forList           []parameter // list and watch
	forWrite          []parameter // create and update
	forPatch          []parameter // patch of a subresource
	forObjectPatch    []parameter // patch of the main endpoint
	forDelete         []parameter
	forCollection     []parameter // deletecollection
}

// newParameters returns the parameters of all types of requests. Most descriptions are from the SwaggerDoc methods of
// Kubernetes' option types, such as ListOptions.
func newParameters() *parameters {
	list, write := metav1.ListOptions{}.SwaggerDoc(), metav1.CreateOptions{}.SwaggerDoc()
	patch, remove := metav1.PatchOptions{}.SwaggerDoc(), metav1.DeleteOptions{}.SwaggerDoc()
	query := func(docs map[string]string, name, valueType string) parameter {
		return parameter{name, "query", valueType, docs[name], name}
	}
	inline := func(docs map[string]string, name string) parameter {
		return parameter{name, "query", "string", docs[name], ""}
	}
	dryRun, validation := inline(write, "dryRun"), inline(write, "fieldValidation")
	manager := query(patch, "fieldManager", "string")
	manager.key = "fieldManager-patch"
	p := &parameters{
		namespace: parameter{"namespace", "path", "string", "the namespace of the object", "namespace"},
		pretty:    parameter{"pretty", "query", "string", "if true, the response is indented JSON", "pretty"},
		forWrite:  []parameter{dryRun, query(write, "fieldManager", "string"), validation},
		forPatch:  []parameter{dryRun, manager, validation, query(patch, "force", "boolean")},
	}
	p.forObjectPatch = append(slices.Clone(p.forPatch), parameter{ownership.TakeOverParameter, "query", "string", takeOverDescription, ownership.TakeOverParameter})
	selecting := []parameter{
		query(list, "continue", "string"), query(list, "fieldSelector", "string"),
		query(list, "labelSelector", "string"), query(list, "limit", "integer"),
		query(list, "resourceVersion", "string"), query(list, "resourceVersionMatch", "string"),
		query(list, "sendInitialEvents", "boolean"), query(list, "timeoutSeconds", "integer"),
	}
	p.forList = sortedParameters(selecting, []parameter{query(list, "allowWatchBookmarks", "boolean"), query(list, "watch", "boolean")})
	p.forDelete = []parameter{
		dryRun, query(remove, "gracePeriodSeconds", "integer"),
		query(remove, "orphanDependents", "boolean"), query(remove, "propagationPolicy", "string"),
	}
	p.forCollection = sortedParameters(selecting, p.forDelete)
	return p
}

func sortedParameters(lists ...[]parameter) []parameter {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b parameter) int { return cmp.Compare(a.name, b.name) })
	return all
}

// shared returns the parameters that OpenAPI v2 documents declare once, which are those with a key, sorted by key.
func (p *parameters) shared() []parameter {
	all := sortedParameters(p.forList, p.forWrite, p.forObjectPatch, p.forDelete, []parameter{p.namespace, p.pretty})
	all = slices.DeleteFunc(all, func(q parameter) bool { return q.key == "" })
	slices.SortFunc(all, func(a, b parameter) int { return cmp.Compare(a.key, b.key) })
	return slices.Compact(all)
}
