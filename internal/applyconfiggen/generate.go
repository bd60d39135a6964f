package applyconfiggen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options select the source and the output. Exactly one of Go, CRDs, OpenAPI and Meta must be set.
type Options struct {
	Go      *GoSource
	CRDs    *CRDSource
	OpenAPI *OpenAPISource
	// Meta generates the package applyruntime/meta/v1 instead of reading a source.
	Meta bool
	// Docs copies the descriptions of types and fields in the source to comments.
	Docs bool
}

// Generate returns the content of the generated files, keyed by the import paths of their packages. The result depends
// only on the options and the sources.
func Generate(ctx context.Context, o Options) (map[string][]byte, error) {
	var all []*Package
	var err error
	switch {
	case o.Go != nil:
		all, err = o.Go.read(ctx)
	case o.CRDs != nil:
		all, err = o.CRDs.read()
	case o.OpenAPI != nil:
		all, err = o.OpenAPI.read()
	case o.Meta:
		all = []*Package{metaPackage()}
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("expected a source with kinds, received a source without kinds; a kind in Go embeds TypeMeta and ObjectMeta")
	}
	files := map[string][]byte{}
	for _, p := range all {
		if files[p.Path], err = write(p, o.Docs); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Write writes the generated files to the folder dir, whose import path is base, and to folders below it. It returns
// an error for a file that would be outside of dir.
func Write(files map[string][]byte, base, dir string) error {
	for _, importPath := range slices.Sorted(maps.Keys(files)) {
		below, ok := strings.CutPrefix(importPath, base)
		if !ok || !filepath.IsLocal(strings.TrimPrefix(below+"/.", "/")) {
			return fmt.Errorf("%s: expected a package below %s, received a package outside of it", importPath, base)
		}
		folder := filepath.Join(dir, filepath.FromSlash(below))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, fileName), files[importPath], 0o644); err != nil {
			return err
		}
	}
	return nil
}
