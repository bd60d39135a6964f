package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// mostPaths is how many paths are offered: nobody looks through more.
const maxPaths = 500

// completeArguments has the shell complete what follows the object, beside the object itself.
func completeArguments(command *cobra.Command, connection *connection, find func(ctx context.Context, server *cluster.Cluster, namespace string, args []string, toComplete string) []string) {
	objects := command.ValidArgsFunction
	command.ValidArgsFunction = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 || len(args) == 1 && !strings.Contains(args[0], "/") {
			return objects(c, args, toComplete)
		}
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return find(ctx, server, namespace, args, toComplete)
		})
	}
}

// paths are those that can be given up in the object that the arguments name, and have not been named yet.
func (f *ownFlags) paths(ctx context.Context, c *cluster.Cluster, namespace string, args []string, toComplete string) []string {
	t, named, err := parseTarget(ctx, c, namespace, args)
	if err != nil {
		return nil
	}
	o, err := t.get(ctx, c)
	if err != nil {
		return nil
	}
	var all pathCandidates
	all.add(o.Entries, toComplete, func(o ownedPath) bool { return f.releaser().Selects(o.by) })
	return all.without(named)
}

// liveOf are the objects on the server that the files have configurations for. Standard input is left to the command.
func (i *input) liveObjects(ctx context.Context, c *cluster.Cluster, namespace string) (lives []apply.Object, configs []document.Value) {
	files := slices.DeleteFunc(slices.Clone(i.files), func(name string) bool { return name == "-" })
	manifests, err := readManifests(ctx, files, i.recursive, nil)
	if err != nil {
		return nil, nil
	}
	for _, m := range manifests {
		t, err := m.target(ctx, c, namespace)
		if err != nil {
			continue
		}
		if o, err := t.get(ctx, c); err == nil {
			lives, configs = append(lives, o), append(configs, m.doc)
		}
	}
	return lives, configs
}

// forcePathsLike are the fields of others that the configurations have, with another value: those that are in the way.
func (f *applyFlags) forcePathCandidates(ctx context.Context, c *cluster.Cluster, namespace, toComplete string) []string {
	var all pathCandidates
	lives, configs := f.input.liveObjects(ctx, c, namespace)
	for i, live := range lives {
		all.add(live.Entries, toComplete, func(o ownedPath) bool {
			if !o.below.IsEmpty() || o.by.Manager == f.manager && o.by.Operation == apply.Apply {
				return false
			}
			wanted := ownership.ValueAt(configs[i], o.path)
			return !wanted.IsAbsent() && !document.Equal(wanted, ownership.ValueAt(live.Document, o.path))
		})
	}
	return all.without(f.forceTexts)
}

// unsetPathsLike are the fields that somebody has set, and the configurations have not.
func (f *applyFlags) unsetPathCandidates(ctx context.Context, c *cluster.Cluster, namespace, toComplete string) []string {
	var all pathCandidates
	lives, configs := f.input.liveObjects(ctx, c, namespace)
	for i, live := range lives {
		all.add(live.Entries, toComplete, func(o ownedPath) bool {
			return ownership.ValueAt(configs[i], o.path).IsAbsent() && !ownership.ValueAt(live.Document, o.path).IsAbsent()
		})
	}
	return all.without(f.unsetTexts)
}

// completePaths has the shell complete a flag that is a path.
func completePaths(command *cobra.Command, connection *connection, flag string, find func(ctx context.Context, c *cluster.Cluster, namespace, toComplete string) []string) {
	completeFlag(command, flag, func(c *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return find(ctx, server, namespace, toComplete)
		})
	})
}

// offer is paths with their owners.
type pathCandidates struct {
	paths  []string
	owners map[string][]string
}

// owned is a path of somebody, and what it owns below it.
type ownedPath struct {
	by    apply.Entry
	path  fieldset.Path
	below fieldset.Set
}

// add offers the paths that entries own, that begin as somebody has begun to write, and that are wanted. Somebody who
// has written quotes where none are needed gets them.
func (o *pathCandidates) add(entries []apply.Entry, toComplete string, wanted func(ownedPath) bool) {
	if o.owners == nil {
		o.owners = map[string][]string{}
	}
	for _, e := range entries {
		fields, err := e.Fields()
		if err != nil {
			continue
		}
		for path := range fields.All() {
			text := shellPath(path)
			if !strings.HasPrefix(text, toComplete) {
				text = formatPath(path)
			}
			if !strings.HasPrefix(text, toComplete) || !wanted(ownedPath{e, path, fields.At(path)}) {
				continue
			}
			if o.owners[text] == nil {
				o.paths = append(o.paths, text)
			}
			if name := entryName(e); !slices.Contains(o.owners[text], name) {
				o.owners[text] = append(o.owners[text], name)
			}
		}
	}
}

// without is the offer for the shell, without some paths; a tab divides each path from its owners.
func (o *pathCandidates) without(named []string) []string {
	var lines []string
	slices.Sort(o.paths)
	for _, path := range o.paths {
		if len(lines) == maxPaths {
			break
		}
		if !slices.Contains(named, path) {
			lines = append(lines, path+"\t"+strings.Join(o.owners[path], ", "))
		}
	}
	return lines
}

// writtenAs is a path as somebody would write it, with quotes only where they are needed.
func shellPath(p fieldset.Path) string {
	var b strings.Builder
	for i, e := range p {
		plain := strings.TrimPrefix(fieldset.Path{e}.Quoted(), ".")
		switch {
		case e.Kind() == fieldset.FieldName && strings.HasPrefix(plain, `"`):
			b.WriteString("[" + plain + "]")
		case e.Kind() == fieldset.FieldName && i > 0:
			b.WriteString("." + plain)
		case e.Kind() == fieldset.Key:
			b.WriteString(shellKeys(e))
		default:
			b.WriteString(plain)
		}
	}
	return b.String()
}

// writtenKeys is an item by its keys, without quotes if all of them can do without.
func shellKeys(e fieldset.Element) string {
	var parts []string
	for _, key := range e.KeyFields() {
		if key.Value.Kind() == document.String && !isPlain(key.Value.Text()) || !isPlain(key.Name) {
			return fieldset.Path{e}.Quoted()
		}
		text := key.Value.Text()
		if key.Value.Kind() != document.String {
			text = key.Value.JSON()
		}
		parts = append(parts, key.Name+"="+text)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// isPlainWord reports whether a word means itself in brackets.
func isPlain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`,=[]"'\`, r)
	})
}
