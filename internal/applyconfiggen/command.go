package applyconfiggen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/document"
)

// outputFlags holds the flags that all commands have in common.
type outputFlags struct {
	dir, pkg string
	docs     bool
}

// Main runs applyconfig-gen with the arguments and returns its exit code: 0 for success, 1 for failure.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := rootCommand()
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "applyconfig-gen: %v\n", err)
		return 1
	}
	return 0
}

func rootCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "applyconfig-gen",
		Short:         "Generate apply configurations with Unset functions",
		Long:          "Generate Go packages with apply configurations: builders for Server-Side Apply that can also declare that fields, map entries and list items must be absent.",
		SilenceErrors: true, SilenceUsage: true,
	}
	command.AddCommand(goCommand(), crdCommand(), openAPICommand(), metaCommand())
	return command
}

func (t *outputFlags) bind(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&t.dir, "output-dir", "", "The `folder` to write the packages to. Required.")
	flags.StringVar(&t.pkg, "output-package", "", "The `import path` of that folder. Required.")
	flags.BoolVar(&t.docs, "docs", true, "Write the descriptions of types and fields as comments.")
}

// generate generates the files of a source and writes them.
func (t *outputFlags) generate(ctx context.Context, o Options) error {
	if t.dir == "" || t.pkg == "" {
		return errors.New("--output-dir, --output-package: expected a folder and its import path, received none")
	}
	o.Docs = t.docs
	files, err := Generate(ctx, o)
	if err != nil {
		return err
	}
	return Write(files, t.pkg, t.dir)
}

func goCommand() *cobra.Command {
	var t outputFlags
	var external []string
	var trim string
	command := &cobra.Command{
		Use:   "go PACKAGE...",
		Short: "Generate apply configurations of the kinds in Go packages",
		Long: `Generate apply configurations of the kinds in Go packages: the structs that embed TypeMeta and ObjectMeta, and those
they refer to. Markers such as +listType, +listMapKey, +mapType, +structType, +default and +genclient apply. Structs of
k8s.io/api and of metadata refer to github.com/cadastre/cadastre/applyconfig; --external adds other packages.`,
		Example: `  applyconfig-gen go ./api/... --trim example.com/shop/api --output-dir applyconfig --output-package example.com/shop/applyconfig`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			output := map[string]string{
				"k8s.io/api": applyConfigPath, "k8s.io/api/core": applyConfigPath + "/core", metaSource: applyConfigPath + "/meta/v1",
			}
			for _, e := range external {
				from, to, ok := strings.Cut(e, "=")
				if !ok {
					return fmt.Errorf("--external: expected API=APPLYCONFIG, received %q", e)
				}
				output[from] = to
			}
			if trim != "" {
				output[trim] = t.pkg
			}
			return t.generate(c.Context(), Options{Go: &GoSource{Dir: ".", Patterns: args, Output: output}})
		},
	}
	t.bind(command)
	command.Flags().StringArrayVar(&external, "external", nil, "The import path of the apply configurations of an API package, or of all below a path, as `API=APPLYCONFIG`. Can be repeated.")
	command.Flags().StringVar(&trim, "trim", "", "The `import path` that the packages have in common, which --output-package replaces.")
	return command
}

// applyConfigPath is the import path of the apply configurations of the built-in kinds.
const applyConfigPath = "github.com/cadastre/cadastre/applyconfig"

func crdCommand() *cobra.Command {
	var t outputFlags
	var files []string
	command := &cobra.Command{
		Use:     "crd -f FILE",
		Short:   "Generate apply configurations from CustomResourceDefinitions",
		Example: `  applyconfig-gen crd -f config/crd/bases --output-dir applyconfig --output-package example.com/shop/applyconfig`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			docs, err := readFiles(files)
			if err != nil {
				return err
			}
			docs = slices.DeleteFunc(docs, func(d document.Value) bool { return d.Get("kind").Text() != "CustomResourceDefinition" })
			return t.generate(c.Context(), Options{CRDs: &CRDSource{Definitions: docs, Output: t.pkg}})
		},
	}
	t.bind(command)
	command.Flags().StringSliceVarP(&files, "filename", "f", nil, "The `file` or folder with the definitions. Can be repeated. Required.")
	return command
}

func openAPICommand() *cobra.Command {
	var t outputFlags
	var files, groups []string
	var kubeconfig string
	command := &cobra.Command{
		Use:   "openapi",
		Short: "Generate apply configurations from OpenAPI documents or a server",
		Example: `  applyconfig-gen openapi --kubeconfig ~/.kube/config --group apps --output-dir applyconfig --output-package example.com/shop/applyconfig
  applyconfig-gen openapi -f swagger.json --output-dir applyconfig --output-package example.com/shop/applyconfig`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var docs []document.Value
			var err error
			if len(files) > 0 {
				docs, err = readFiles(files)
			} else {
				docs, err = readServer(kubeconfig)
			}
			if err != nil {
				return err
			}
			return t.generate(c.Context(), Options{OpenAPI: &OpenAPISource{Documents: docs, Output: t.pkg, Groups: groups}})
		},
	}
	t.bind(command)
	command.Flags().StringSliceVarP(&files, "filename", "f", nil, "The `file` or folder with OpenAPI documents, version 2 or 3. Can be repeated.")
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "The kubeconfig `file` of the server from which the documents are read if -f is not set. The default is the kubeconfig of kubectl.")
	command.Flags().StringSliceVar(&groups, "group", nil, "The API `group` whose kinds are generated, core for the core group. Can be repeated; all groups if it is not set.")
	return command
}

// metaCommand returns the hidden command that generates the package applyruntime/meta/v1.
func metaCommand() *cobra.Command {
	var t outputFlags
	command := &cobra.Command{
		Use: "meta", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.generate(c.Context(), Options{Meta: true}) },
	}
	t.bind(command)
	return command
}

// maxFileBytes is the maximum size of an input file or document; Kubernetes' swagger.json has 5 MB.
const maxFileBytes = 256 << 20

// readFiles returns the documents in the named files, and in the .yaml, .yml and .json files of the named folders.
func readFiles(names []string) ([]document.Value, error) {
	if len(names) == 0 {
		return nil, errors.New("-f: expected a file or folder, received none")
	}
	var docs []document.Value
	for _, name := range names {
		err := filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || file != name && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for doc, err := range document.ParseYAMLStream(content, document.Limits{MaxBytes: maxFileBytes}) {
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				docs = append(docs, doc)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// readServer returns the OpenAPI v3 documents of a server.
func readServer(kubeconfig string) ([]document.Value, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return nil, err
	}
	var docs []document.Value
	for at, groupVersion := range paths {
		if !strings.HasPrefix(at, "api") {
			continue
		}
		text, err := groupVersion.Schema("application/json")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		doc, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: maxFileBytes})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
