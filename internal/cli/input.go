package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"
)

// input holds the flags -f, -R and -k, which select the files to read objects from.
type input struct {
	files     []string
	folder    string
	recursive bool
}

func (i *input) bind(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&i.files, "filename", "f", nil, "Read objects from this `file`, folder or URL, or from standard input (-). Can be repeated.")
	flags.BoolVarP(&i.recursive, "recursive", "R", false, "Read folders of -f recursively.")
	flags.StringVarP(&i.folder, "kustomize", "k", "", "Read objects from the kustomization in this `folder`. Requires kubectl or kustomize in the PATH.")
}

// isSet reports whether -f or -k is set.
func (i *input) isSet() bool { return len(i.files) > 0 || i.folder != "" }

// read returns the objects of all files of -f, or of the kustomization of -k.
func (i *input) read(ctx context.Context, stdin io.Reader) ([]manifest, error) {
	switch {
	case i.folder == "":
		return readManifests(ctx, i.files, i.recursive, stdin)
	case len(i.files) > 0:
		return nil, &usageError{errors.New("expected either -f or -k, received both")}
	case i.recursive:
		return nil, &usageError{errors.New("--recursive requires -f and cannot be used with -k")}
	}
	return kustomize(ctx, i.folder)
}
