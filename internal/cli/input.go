package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"
)

// input holds the flags -f, -R and -k, which name the files to read objects from.
type input struct {
	files     []string
	folder    string
	recursive bool
}

func (i *input) bind(flags *pflag.FlagSet, verb string) {
	flags.StringSliceVarP(&i.files, "filename", "f", nil, verb+" the objects in a `file`, a folder, at an address, or - for standard input")
	flags.BoolVarP(&i.recursive, "recursive", "R", false, "also the files in the folders of a folder")
	flags.StringVarP(&i.folder, "kustomize", "k", "", verb+" what kustomize builds of a `folder`")
}

// given reports whether -f or -k is set.
func (i *input) given() bool { return len(i.files) > 0 || i.folder != "" }

// read returns the objects of all files, or of the kustomization.
func (i *input) read(ctx context.Context, stdin io.Reader) ([]manifest, error) {
	switch {
	case i.folder == "":
		return readManifests(ctx, i.files, i.recursive, stdin)
	case len(i.files) > 0:
		return nil, &usageError{errors.New("expected either -f or -k, received both")}
	case i.recursive:
		return nil, &usageError{errors.New("--recursive: expected -f with it, received -k")}
	}
	return kustomize(ctx, i.folder)
}
