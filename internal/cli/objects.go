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

// objects are what a command is about: each with where it is, or an error about it.
type objects iter.Seq2[foundObject, error]

// found is an object that was read from the server.
type foundObject struct {
	target target
	object apply.Object
}

// selectObjects finds the objects that the flags and arguments of migrate name. What can't be understood is
// told before anything is read.
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
	if p.enabled() && f.selector == "" { // servers do not count what a selector selects
		p.addTotal(countObjects(ctx, c, kinds, namespace))
	}
	return listObjects(ctx, c, kinds, namespace, f.selector), nil
}

// countAll asks how many objects there are, for people only: what fails will be told when they are listed.
func countObjects(ctx context.Context, c *cluster.Cluster, kinds []cluster.Kind, namespace string) int {
	sum := 0
	for _, k := range kinds {
		if n, err := c.Count(ctx, k, namespace); err == nil {
			sum += n
		}
	}
	return sum
}

// preferred are the kinds that can be read and written, each at its preferred version. Those without
// namespaces count only where everything is meant.
func preferredKinds(all []cluster.Kind, everything bool) []cluster.Kind {
	known := map[string]bool{}
	var some []cluster.Kind
	for _, k := range all {
		if name := k.String(); !known[name] && k.Can("get", "list", "patch") && (k.Namespaced || everything) {
			known[name] = true
			some = append(some, k)
		}
	}
	return some
}

// findKinds reads TYPE[,TYPE…], where a type may be a category of many, each of which is meant at its preferred version.
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

// named is an object as it is named on the command line.
type objectName struct{ kind, name string }

// splitNames reads TYPE NAME… or TYPE/NAME….
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

// manyTargets finds where the objects are that the arguments name.
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

// fileTargets finds where the objects in files are.
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

// target finds where an object is; the namespace counts if it names none.
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

// listAll lists kinds, one after the other. Some kinds are served by two groups with the same objects, as events are: these
// count once.
func listObjects(ctx context.Context, c *cluster.Cluster, kinds []cluster.Kind, namespace, selector string) objects {
	return func(yield func(foundObject, error) bool) {
		seen := seenObjects{kinds: map[string]int{}, uids: map[string]bool{}}
		for _, k := range kinds {
			seen.kinds[k.Name]++
		}
		for _, k := range kinds {
			for o, err := range c.List(ctx, k, namespace, selector) {
				if cluster.IsCode(err, http.StatusNotFound) || cluster.IsCode(err, http.StatusMethodNotAllowed) {
					break // a kind that went away, or is served in name only
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

// seenObjects tells objects that were seen before: by their uids, of kinds whose name several groups have.
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
