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

// maxPaths is the maximum number of completion candidates.
const maxPaths = 500

// completeArguments makes the command complete the arguments after TYPE NAME with find.
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

// releasablePaths returns the paths that the releasing field manager owns in the object that args name, except the paths
// that args already contain.
func (f *ownFlags) releasablePaths(ctx context.Context, c *cluster.Cluster, namespace string, args []string, toComplete string) []string {
	t, exclude, err := parseTarget(ctx, c, namespace, args)
	if err != nil {
		return nil
	}
	o, err := t.get(ctx, c)
	if err != nil {
		return nil
	}
	var all pathCandidates
	all.add(o.Entries, toComplete, func(o ownedPath) bool { return f.releaser().Selects(o.by) })
	return all.without(exclude)
}

// liveObjects returns the live objects that the input files describe, and their configurations, in the same order. Standard
// input is not read, because the completed command will read it.
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

// forcePathCandidates returns the fields that other field managers own and that the configurations would change.
func (f *applyFlags) forcePathCandidates(ctx context.Context, c *cluster.Cluster, namespace, toComplete string) []string {
	var all pathCandidates
	lives, configs := f.input.liveObjects(ctx, c, namespace)
	for i, live := range lives {
		all.add(live.Entries, toComplete, func(o ownedPath) bool {
			if !o.below.IsEmpty() || o.by.Manager == f.manager && o.by.Operation == apply.Apply {
				return false
			}
			configured := ownership.ValueAt(configs[i], o.path)
			return !configured.IsAbsent() && !document.Equal(configured, ownership.ValueAt(live.Document, o.path))
		})
	}
	return all.without(f.forceTexts)
}

// unsetPathCandidates returns the owned fields that are set in a live object and absent from its configuration.
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

// completePaths adds the completion of flag, whose value is a field path, with the candidates that find returns.
func completePaths(command *cobra.Command, connection *connection, flag string, find func(ctx context.Context, c *cluster.Cluster, namespace, toComplete string) []string) {
	completeFlag(command, flag, func(c *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return find(ctx, server, namespace, toComplete)
		})
	})
}

// pathCandidates are completion candidates: field paths, and the field managers that own each of them.
type pathCandidates struct {
	paths  []string
	owners map[string][]string
}

// ownedPath is a path in the field set of a managed fields entry, with the part of the set below the path.
type ownedPath struct {
	by    apply.Entry
	path  fieldset.Path
	below fieldset.Set
}

// add adds the paths of the managed fields entries that start with toComplete and for which accept returns true. A path is
// written without optional quotes, unless only its quoted form starts with toComplete.
func (o *pathCandidates) add(entries []apply.Entry, toComplete string, accept func(ownedPath) bool) {
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
			if !strings.HasPrefix(text, toComplete) || !accept(ownedPath{e, path, fields.At(path)}) {
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

// without returns the candidates except the paths in exclude, sorted, as PATH<tab>OWNERS.
func (o *pathCandidates) without(exclude []string) []string {
	var lines []string
	slices.Sort(o.paths)
	for _, path := range o.paths {
		if len(lines) == maxPaths {
			break
		}
		if !slices.Contains(exclude, path) {
			lines = append(lines, path+"\t"+strings.Join(o.owners[path], ", "))
		}
	}
	return lines
}

// shellPath formats a field path with quotes only where they are required.
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

// shellKeys formats e, the keys of an item of a list map. It quotes the values of the keys only if one of them requires
// quotes.
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

// isPlain reports whether a word can be written within the brackets of a path without quotes.
func isPlain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`,=[]"'\`, r)
	})
}
