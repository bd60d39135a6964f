package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// Shell completion queries the API server. Errors yield no candidates, because shells do not display them.

// completionTimeout is the maximum duration of all requests of one completion.
const completionTimeout = 2 * time.Second

// completeObjects adds shell completion to command: of the arguments TYPE, NAME and TYPE/NAME, of --namespace and
// --context, and of the flags named in managerFlags, whose values are field managers of the object in the arguments. After
// a TYPE, it completes at most maxNames names.
func completeObjects(command *cobra.Command, connection *connection, maxNames int, managerFlags ...string) {
	command.ValidArgsFunction = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			return completeObjectArgs(ctx, server, namespace, args, toComplete, maxNames)
		})
	}
	for _, name := range managerFlags {
		completeFlag(command, name, func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
				return completeListItem(toComplete, managersOfArgs(ctx, server, namespace, args))
			})
		})
	}
	completeConnection(command, connection)
}

// completeConnection adds the completion of --namespace and --context.
func completeConnection(command *cobra.Command, connection *connection) {
	completeFlag(command, "namespace", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, _ string) []string {
			return objectNames(ctx, server, "", "namespaces")
		})
	})
	completeFlag(command, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return connection.contextNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeWords adds the completion of flag, which accepts only the given words.
func completeWords(command *cobra.Command, flag string, words ...string) {
	completeFlag(command, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func completeFlag(command *cobra.Command, flag string, find cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(flag, find); err != nil {
		panic(err) // a programming error: the flag does not exist, or already has a completion function
	}
}

// complete returns the candidates of find, which it calls with a client of the server that the flags select and with a
// context that ends after completionTimeout. It returns no candidates if it cannot connect.
func (c *connection) complete(ctx context.Context, find func(context.Context, *cluster.Cluster, string) []string) ([]string, cobra.ShellCompDirective) {
	server, namespace, err := c.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	return find(ctx, server, namespace), cobra.ShellCompDirectiveNoFileComp
}

// contextNames returns the sorted names of the kubeconfig's contexts.
func (c *connection) contextNames() []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	config, err := rules.Load()
	if err != nil {
		return nil
	}
	var names []string
	for name := range config.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// completeObjectArgs returns the candidates for TYPE or, if args already contain a type, for NAME.
func completeObjectArgs(ctx context.Context, c *cluster.Cluster, namespace string, args []string, toComplete string, maxNames int) []string {
	if kind, _, slash := strings.Cut(toComplete, "/"); slash {
		var candidates []string
		for _, name := range objectNames(ctx, c, namespace, kind) {
			candidates = append(candidates, kind+"/"+name)
		}
		return candidates
	}
	switch {
	case len(args) == 0:
		return resourceNames(ctx, c)
	case len(args) > maxNames || strings.Contains(args[0], "/"):
		return nil
	}
	return slices.DeleteFunc(objectNames(ctx, c, namespace, args[0]), func(name string) bool { return slices.Contains(args[1:], name) })
}

// resourceNames returns the names of the resources that can be read, each once, as NAME<tab>DESCRIPTION.
func resourceNames(ctx context.Context, c *cluster.Cluster) []string {
	kinds, err := c.Kinds(ctx)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	var all []string
	for _, k := range kinds {
		if k.SupportsVerbs("get") && !seen[k.Resource] {
			seen[k.Resource] = true
			all = append(all, k.Resource+"\t"+k.Name+" "+k.APIVersion())
		}
	}
	return all
}

// objectNames returns the names of at most 500 objects of the given kind; nil if they cannot be read.
func objectNames(ctx context.Context, c *cluster.Cluster, namespace, kind string) []string {
	const maxNames = 500
	k, err := c.FindKind(ctx, kind)
	if err != nil {
		return nil
	}
	var names []string
	for o, err := range c.List(ctx, k, namespace, "") {
		if err != nil || len(names) == maxNames {
			break
		}
		names = append(names, o.Document.Lookup("metadata", "name").Text())
	}
	return names
}

// managersOfArgs returns the field managers of the object that the arguments name or, if they contain only a type, of at
// most 500 objects of that type.
func managersOfArgs(ctx context.Context, c *cluster.Cluster, namespace string, args []string) []string {
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		return managersOfType(ctx, c, namespace, args[0])
	}
	t, _, err := parseTarget(ctx, c, namespace, args)
	if err != nil {
		return nil
	}
	o, err := t.get(ctx, c)
	if err != nil {
		return nil
	}
	return managerNames(o.Entries)
}

func managersOfType(ctx context.Context, c *cluster.Cluster, namespace, kind string) []string {
	const maxNames = 500
	k, err := c.FindKind(ctx, kind)
	if err != nil {
		return nil
	}
	var entries []apply.Entry
	seen := 0
	for o, err := range c.List(ctx, k, namespace, "") {
		if seen++; err != nil || seen > maxNames {
			break
		}
		entries = append(entries, o.Entries...)
	}
	return managerNames(entries)
}

// completeManagers adds the completion of --manager with the field managers of the live objects that the input files
// describe.
func completeManagers(command *cobra.Command, connection *connection, files *input) {
	completeFlag(command, "manager", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return connection.complete(c.Context(), func(ctx context.Context, server *cluster.Cluster, namespace string) []string {
			var entries []apply.Entry
			objects, _ := files.liveObjects(ctx, server, namespace)
			for _, o := range objects {
				entries = append(entries, o.Entries...)
			}
			return managerNames(entries)
		})
	})
}

// completeListItem completes the last item of toComplete, a comma-separated list, with those names that the list does not
// contain yet.
func completeListItem(toComplete string, names []string) []string {
	before := toComplete[:strings.LastIndex(toComplete, ",")+1]
	present := strings.Split(before, ",")
	var all []string
	for _, name := range names {
		if !slices.Contains(present, name) {
			all = append(all, before+name)
		}
	}
	return all
}

func managerNames(entries []apply.Entry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
