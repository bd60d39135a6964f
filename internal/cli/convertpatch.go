package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
	"github.com/cadastre/cadastre/strategic"
)

type patchFlags struct {
	output    output
	format    string
	formats   []string
	live      string
	overwrite bool
}

func convertPatchCommand() *cobra.Command {
	return groupCommand("convert-patch", "Create and merge patches without a server", makePatchCommand(), mergePatchCommand())
}

func makePatchCommand() *cobra.Command {
	var f patchFlags
	command := &cobra.Command{
		Use:   "make OLD NEW",
		Short: "Create the patch that turns one object into another",
		Long: `Create the patch that turns one object into another. With -o name, the name of the object is printed instead.

With --live, the result is the three-way patch of kubectl's client-side apply: OLD is the last applied configuration,
NEW the new one, and fields that only the live object has are not changed. Fields that were changed since OLD are
conflicts, unless --overwrite is set.`,
		Example: `  cadastre convert-patch make old.yaml new.yaml
  cadastre convert-patch make last-applied.yaml new.yaml --live live.yaml --overwrite`,
		Args: twoFiles,
		RunE: func(c *cobra.Command, args []string) error {
			return makePatch(f, args, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f.bind(command, "strategic", "merge")
	command.Flags().StringVar(&f.live, "live", "", "The `file` with the live object.")
	command.Flags().BoolVar(&f.overwrite, "overwrite", false, "With --live, overwrite fields that were changed since OLD.")
	return command
}

func mergePatchCommand() *cobra.Command {
	var f patchFlags
	command := &cobra.Command{
		Use:   "merge OBJECT PATCH",
		Short: "Merge a patch into an object",
		Long: `Merge a patch into an object, like a server before defaulting. With -o name, the name of the object is printed
instead.`,
		Example: `  cadastre convert-patch merge web.yaml patch.yaml
  cadastre convert-patch merge web.yaml operations.json --type json`,
		Args: twoFiles,
		RunE: func(c *cobra.Command, args []string) error {
			return mergePatch(f, args, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f.bind(command, "strategic", "merge", "json")
	return command
}

func (f *patchFlags) bind(command *cobra.Command, formats ...string) {
	f.formats = formats
	f.output.bind(command.Flags(), "yaml", "json", "name")
	command.Flags().StringVar(&f.format, "type", formats[0], "The type of the patch: `"+strings.Join(formats, "|")+"`.")
	completeWords(command, "type", formats...)
	completeWords(command, "output", f.output.formats...)
}

func (f *patchFlags) check() error {
	if !slices.Contains(f.formats, f.format) {
		return &usageError{fmt.Errorf("--type: expected %s, received %q", joinOr(f.formats), f.format)}
	}
	return f.output.check()
}

func twoFiles(c *cobra.Command, args []string) error {
	if len(args) != 2 {
		return &usageError{fmt.Errorf("%s: expected two files, received %d; see %s --help", c.Name(), len(args), c.CommandPath())}
	}
	return nil
}

func makePatch(f patchFlags, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.overwrite && f.live == "" {
		return &usageError{errors.New("--overwrite requires --live: without a live object there are no conflicts")}
	}
	names := append(args, f.live)
	docs, err := readDocuments(names, stdin)
	if err != nil {
		return err
	}
	if err := checkSameKind(names, docs); err != nil {
		return err
	}
	strategies, err := f.strategies(args[1], docs[1])
	if err != nil {
		return err
	}
	var patch document.Value
	if f.live == "" {
		patch, err = strategic.Diff(docs[0], docs[1], strategies)
	} else {
		patch, err = strategic.ThreeWay{Type: strategies, Overwrite: f.overwrite}.Diff(docs[0], docs[1], docs[2])
	}
	if err != nil {
		return err
	}
	return f.print(stdout, args[1], docs[1], patch)
}

func mergePatch(f patchFlags, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	docs, err := readDocuments(args, stdin)
	if err != nil {
		return err
	}
	if err := checkMap(args[0], docs[0]); err != nil {
		return err
	}
	var merged document.Value
	switch f.format {
	case "json":
		merged, err = strategic.ApplyJSONPatch(docs[0], docs[1])
	case "merge":
		merged, err = strategic.MergeJSON(docs[0], docs[1])
	default:
		var strategies *strategic.Type
		if strategies, err = f.strategies(args[0], docs[0]); err != nil {
			return err
		}
		merged, err = strategic.Merge(docs[0], docs[1], strategies)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	return f.print(stdout, args[0], merged, merged)
}

// print prints result, the patch or the merged object. With -o name, it prints only the name of object, which was read from
// the named file.
func (f patchFlags) print(stdout io.Writer, file string, object, result document.Value) error {
	if f.output.format != "name" {
		return f.output.print(stdout, result)
	}
	named := manifest{doc: object}.unresolvedTarget()
	if named.kind.Name == "" || named.name == "" {
		return fmt.Errorf("%s: -o name: expected an object with kind and metadata.name, received %s", file, formatValue(object))
	}
	_, err := fmt.Fprintln(stdout, named)
	return err
}

// checkSameKind returns an error if a document differs from docs[1], the object, in apiVersion or kind. names are the file
// names of docs. It skips empty documents, which mean that the object does not exist.
func checkSameKind(names []string, docs []document.Value) error {
	object := docs[1]
	if err := checkMap(names[1], object); err != nil {
		return err
	}
	for i, doc := range docs {
		if doc.IsAbsent() || doc.IsNull() {
			continue
		}
		if err := checkMap(names[i], doc); err != nil {
			return err
		}
		for _, field := range []string{"apiVersion", "kind"} {
			if got, want := doc.Get(field), object.Get(field); !got.IsAbsent() && !document.Equal(got, want) {
				return fmt.Errorf("%s: expected the same %s as in %s, which is %s, received %s", names[i], field, names[1], formatValue(want), formatValue(got))
			}
		}
	}
	return nil
}

// checkMap returns an error if doc, which was read from the named file, is not a map.
func checkMap(name string, doc document.Value) error {
	if doc.Kind() != document.Map {
		return fmt.Errorf("%s: expected an object, received %s", name, formatValue(doc))
	}
	return nil
}

// strategies returns the strategic merge patch strategies of the kind of object, which was read from the named file. It
// returns nil if --type is a JSON merge patch, which uses no strategies.
func (f patchFlags) strategies(name string, object document.Value) (*strategic.Type, error) {
	if f.format == "merge" {
		return nil, nil
	}
	apiVersion, kind := object.Get("apiVersion").Text(), object.Get("kind").Text()
	if apiVersion == "" || kind == "" {
		return nil, fmt.Errorf("%s: expected an object with apiVersion and kind, which decide how lists are merged; received %s", name, formatValue(object))
	}
	t, ok := scheme.GoType(apiVersion, kind)
	if !ok {
		return nil, fmt.Errorf("%s: %s of %s is not a built-in kind, and servers accept strategic merge patches for built-in kinds only; use --type merge", name, kind, apiVersion)
	}
	return strategic.FromGoType(t)
}

// readDocuments reads one document from each file in names. The name - means stdin; the name "" yields the absent document.
func readDocuments(names []string, stdin io.Reader) ([]document.Value, error) {
	if first := slices.Index(names, "-"); first >= 0 && slices.Contains(names[first+1:], "-") {
		return nil, &usageError{errors.New("-: expected standard input at most once")}
	}
	docs := make([]document.Value, len(names))
	for i, name := range names {
		var text []byte
		var err error
		switch name {
		case "":
			continue
		case "-":
			text, err = io.ReadAll(stdin)
		default:
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, shortPathError(err)
		}
		if docs[i], err = document.ParseYAML(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return docs, nil
}
