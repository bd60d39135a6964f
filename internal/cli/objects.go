package cli

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// objects is a sequence of found objects and errors. If the error is not nil, foundObject contains only the target that
// could not be read.
type objects iter.Seq2[foundObject, error]

// foundObject is an object that was read from the server.
type foundObject struct {
	target target
	object apply.Object
}

// selectObjects returns the objects that the flags and arguments of migrate select. Unknown kinds and invalid arguments are
// errors, before any object is read.
func selectObjects(ctx context.Context, c *cluster.Cluster, f migrateFlags, namespace string, args []string, manifests []manifest, p *progress) (objects, error) {
	if f.allNamespaces {
		namespace = ""
	}
	var targets []target
	var kinds []cluster.Kind
	var err error
	switch {
	case f.all:
		kinds, err = c.Kinds(ctx)
		kinds = preferredKinds(kinds, f.allNamespaces)
	case len(manifests) > 0:
		targets, err = f.fileTargets(ctx, c, manifests, namespace)
	case len(args) == 1 && !strings.Contains(args[0], "/"):
		kinds, err = findKinds(ctx, c, args[0])
	default:
		targets, err = parseTargets(ctx, c, namespace, args)
	}
	if err != nil {
		return nil, err
	}
	if len(targets) > 0 {
		p.addTotal(len(targets))
		return getObjects(ctx, c, targets), nil
	}
	if p.enabled() && f.selector == "" { // with a label selector, servers do not return remainingItemCount
		p.addTotal(countObjects(ctx, c, kinds, namespace))
	}
	return listObjects(ctx, c, kinds, namespace, f.selector), nil
}

// countObjects returns the number of objects, for the progress bar. It skips kinds that cannot be counted; listing them will
// report the error.
func countObjects(ctx context.Context, c *cluster.Cluster, kinds []cluster.Kind, namespace string) int {
	sum := 0
	for _, k := range kinds {
		if n, err := c.Count(ctx, k, namespace); err == nil {
			sum += n
		}
	}
	return sum
}

// preferredKinds returns those kinds that support get, list and patch, each at its preferred version. It includes
// cluster-scoped kinds only if clusterScoped is true.
func preferredKinds(kinds []cluster.Kind, clusterScoped bool) []cluster.Kind {
	known := map[string]bool{}
	var preferred []cluster.Kind
	for _, k := range kinds {
		if name := k.String(); !known[name] && k.SupportsVerbs("get", "list", "patch") && (k.Namespaced || clusterScoped) {
			known[name] = true
			preferred = append(preferred, k)
		}
	}
	return preferred
}

// findKinds returns the kinds for names, which is TYPE[,TYPE…]. A type may be a category, which selects all of its kinds at
// their preferred versions.
func findKinds(ctx context.Context, c *cluster.Cluster, names string) ([]cluster.Kind, error) {
	var kinds []cluster.Kind
	for name := range strings.SplitSeq(names, ",") {
		found, err := c.FindKinds(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			found = preferredKinds(found, true)
		}
		kinds = append(kinds, found...)
	}
	return kinds, nil
}

// objectName is an argument that names an object, before its kind is looked up in discovery.
type objectName struct{ kind, name string }

// parseNames parses the arguments TYPE NAME… or TYPE/NAME….
func parseNames(args []string) ([]objectName, error) {
	var all []objectName
	for i, arg := range args {
		kind, name, slash := strings.Cut(arg, "/")
		switch {
		case !slash && i == 0:
			continue
		case !slash && strings.Contains(args[0], "/"):
			return nil, &usageError{fmt.Errorf("expected TYPE/NAME, as in %q, received %q", args[0], arg)}
		case !slash:
			kind, name = args[0], arg
		}
		all = append(all, objectName{kind, name})
	}
	return all, nil
}

// parseTargets returns the targets of the objects that the arguments name.
func parseTargets(ctx context.Context, c *cluster.Cluster, namespace string, args []string) ([]target, error) {
	names, err := parseNames(args)
	if err != nil {
		return nil, err
	}
	var targets []target
	for _, n := range names {
		t, _, err := parseTarget(ctx, c, namespace, []string{n.kind + "/" + n.name})
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// fileTargets returns the targets of the objects in files.
func (f migrateFlags) fileTargets(ctx context.Context, c *cluster.Cluster, manifests []manifest, namespace string) ([]target, error) {
	var targets []target
	for _, m := range manifests {
		t, err := m.target(ctx, c, namespace)
		if err == nil {
			err = f.connection.checkNamespace(m, t)
		}
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// target returns the target of the manifest. namespace is used if the object is namespaced and has no metadata.namespace.
func (m manifest) target(ctx context.Context, c *cluster.Cluster, namespace string) (target, error) {
	k, err := c.KindOf(ctx, m.doc.Get("apiVersion").Text(), m.doc.Get("kind").Text())
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", m.source, err)
	}
	t := targetOf(k, m.doc)
	if err := checkName(t.name); err != nil {
		return t, fmt.Errorf("%s: metadata.name: %w", m.source, err)
	}
	if t.namespace == "" {
		t.namespace = namespace
	}
	return t, nil
}

func getObjects(ctx context.Context, c *cluster.Cluster, targets []target) objects {
	return func(yield func(foundObject, error) bool) {
		for _, t := range targets {
			o, err := t.get(ctx, c)
			if !yield(foundObject{t, o}, err) {
				return
			}
		}
	}
}

// listObjects lists the objects of kinds, one kind at a time. It returns an object that two API groups serve, such as an
// Event, only once.
func listObjects(ctx context.Context, c *cluster.Cluster, kinds []cluster.Kind, namespace, selector string) objects {
	return func(yield func(foundObject, error) bool) {
		seen := seenObjects{kinds: map[string]int{}, uids: map[string]bool{}}
		for _, k := range kinds {
			seen.kinds[k.Name]++
		}
		for _, k := range kinds {
			for o, err := range c.List(ctx, k, namespace, selector) {
				if cluster.IsCode(err, http.StatusNotFound) || cluster.IsCode(err, http.StatusMethodNotAllowed) {
					break // the kind was removed, or does not support list
				}
				f := foundObject{targetOf(k, o.Document), o}
				if err != nil {
					err = fmt.Errorf("%s: %w", f.target, err)
				} else if seen.alreadySeen(f) {
					continue
				}
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// seenObjects detects, by their uids, objects that were already listed through another API group. It tracks only kinds whose
// name occurs in several groups.
type seenObjects struct {
	kinds map[string]int
	uids  map[string]bool
}

func (s seenObjects) alreadySeen(f foundObject) bool {
	uid := f.object.Document.Lookup("metadata", "uid").Text()
	if uid == "" || s.kinds[f.target.kind.Name] < 2 {
		return false
	}
	seen := s.uids[uid]
	s.uids[strings.Clone(uid)] = true
	return seen
}
