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
const mostPaths = 500

// completeArguments has the shell complete what follows the object, beside the object itself.
func completeArguments(command *cobra.Command, connection *connection, find func(ctx context.Context, server *cluster.Cluster, namespace string, args []string, begun string) []string) {
	objects := command.ValidArgsFunction
	command.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 || len(args) == 1 && !strings.Contains(args[0], "/") {
			return objects(c, args, begun)
		}
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return find(ctx, server, namespace, args, begun)
		})
	}
}

// paths are those that can be given up in the object that the arguments name, and have not been named yet.
func (f *ownFlags) paths(ctx context.Context, c *cluster.Cluster, namespace string, args []string, begun string) []string {
	t, named, err := oneTarget(ctx, c, namespace, args)
	if err != nil {
		return nil
	}
	o, err := t.get(ctx, c)
	if err != nil {
		return nil
	}
	var all offer
	all.add(o.Entries, begun, func(o owned) bool { return f.giver().Selects(o.by) })
	return all.without(named)
}

// liveOf are the objects on the server that the files have configurations for. Standard input is left to the command.
func (i *input) liveOf(ctx context.Context, c *cluster.Cluster, namespace string) (lives []apply.Object, configs []document.Value) {
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
func (f *applyFlags) forcePathsLike(ctx context.Context, c *cluster.Cluster, namespace, begun string) []string {
	var all offer
	lives, configs := f.input.liveOf(ctx, c, namespace)
	for i, live := range lives {
		all.add(live.Entries, begun, func(o owned) bool {
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
func (f *applyFlags) unsetPathsLike(ctx context.Context, c *cluster.Cluster, namespace, begun string) []string {
	var all offer
	lives, configs := f.input.liveOf(ctx, c, namespace)
	for i, live := range lives {
		all.add(live.Entries, begun, func(o owned) bool {
			return ownership.ValueAt(configs[i], o.path).IsAbsent() && !ownership.ValueAt(live.Document, o.path).IsAbsent()
		})
	}
	return all.without(f.unsetTexts)
}

// completePaths has the shell complete a flag that is a path.
func completePaths(command *cobra.Command, connection *connection, flag string, find func(ctx context.Context, c *cluster.Cluster, namespace, begun string) []string) {
	completeFlag(command, flag, func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return find(ctx, server, namespace, begun)
		})
	})
}

// offer is paths with their owners.
type offer struct {
	paths  []string
	owners map[string][]string
}

// owned is a path of somebody, and what it owns below it.
type owned struct {
	by    apply.Entry
	path  fieldset.Path
	below fieldset.Set
}

// add offers the paths that entries own, that begin as somebody has begun to write, and that are wanted. Somebody who
// has written quotes where none are needed gets them.
func (o *offer) add(entries []apply.Entry, begun string, wanted func(owned) bool) {
	if o.owners == nil {
		o.owners = map[string][]string{}
	}
	for _, e := range entries {
		fields, err := e.Fields()
		if err != nil {
			continue
		}
		for path := range fields.All() {
			text := writtenAs(path)
			if !strings.HasPrefix(text, begun) {
				text = shownPath(path)
			}
			if !strings.HasPrefix(text, begun) || !wanted(owned{e, path, fields.At(path)}) {
				continue
			}
			if o.owners[text] == nil {
				o.paths = append(o.paths, text)
			}
			if name := who(e); !slices.Contains(o.owners[text], name) {
				o.owners[text] = append(o.owners[text], name)
			}
		}
	}
}

// without is the offer for the shell, without some paths; a tab divides each path from its owners.
func (o *offer) without(named []string) []string {
	var lines []string
	slices.Sort(o.paths)
	for _, path := range o.paths {
		if len(lines) == mostPaths {
			break
		}
		if !slices.Contains(named, path) {
			lines = append(lines, path+"\t"+strings.Join(o.owners[path], ", "))
		}
	}
	return lines
}

// writtenAs is a path as somebody would write it, with quotes only where they are needed.
func writtenAs(p fieldset.Path) string {
	var b strings.Builder
	for i, e := range p {
		plain := strings.TrimPrefix(fieldset.Path{e}.Quoted(), ".")
		switch {
		case e.Kind() == fieldset.FieldName && strings.HasPrefix(plain, `"`):
			b.WriteString("[" + plain + "]")
		case e.Kind() == fieldset.FieldName && i > 0:
			b.WriteString("." + plain)
		case e.Kind() == fieldset.Key:
			b.WriteString(writtenKeys(e))
		default:
			b.WriteString(plain)
		}
	}
	return b.String()
}

// writtenKeys is an item by its keys, without quotes if all of them can do without.
func writtenKeys(e fieldset.Element) string {
	var parts []string
	for _, key := range e.KeyFields() {
		if key.Value.Kind() == document.String && !isPlainWord(key.Value.Text()) || !isPlainWord(key.Name) {
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
func isPlainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`,=[]"'\`, r)
	})
}
