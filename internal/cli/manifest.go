package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// manifest is an object that was read from a file, a URL, standard input or a kustomization.
type manifest struct {
	// source is the file name, the URL or "standard input", for messages.
	source string
	doc    document.Value
}

// name returns the object's name in kubectl's format. It sends no request, so it also works for kinds that the server does
// not serve.
func (m manifest) name() string { return m.unresolvedTarget().String() }

// unresolvedTarget returns the target according to the object's own fields, without discovery.
func (m manifest) unresolvedTarget() target {
	group, version, found := strings.Cut(m.doc.Get("apiVersion").Text(), "/")
	if !found {
		group, version = "", group
	}
	k := cluster.Kind{Group: group, Version: version, Name: m.doc.Get("kind").Text()}
	return targetOf(k, m.doc)
}

// readManifests reads objects from files, folders (including subfolders if recursive is set), URLs, and standard input for
// the name -. Lists are expanded into their items.
func readManifests(ctx context.Context, names []string, recursive bool, stdin io.Reader) ([]manifest, error) {
	if len(names) == 0 {
		return nil, &usageError{errors.New("expected files with -f, received none")}
	}
	var all []manifest
	for _, name := range names {
		var err error
		switch {
		case name == "-":
			all, err = appendManifests(all, "standard input", stdin)
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			all, err = appendURL(ctx, all, name, urlTimeout)
		default:
			all, err = appendFiles(all, name, recursive)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("found no objects in %s", strings.Join(names, ", "))
	}
	return all, nil
}

// urlTimeout is the maximum duration of a download, including the body.
const urlTimeout = time.Minute

func appendURL(ctx context.Context, all []manifest, address string, timeout time.Duration) ([]manifest, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	all, err := readURL(ctx, all, address)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: expected a complete response within %v, received none or a part of it", address, timeout)
	}
	return all, err
}

func readURL(ctx context.Context, all []manifest, address string) ([]manifest, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // the body has been read, so a failed close has no effect
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: expected 200 OK, received %s", address, response.Status)
	}
	return appendManifests(all, address, response.Body)
}

// appendFiles appends the objects of a file, or of all .yaml, .yml and .json files in a folder.
func appendFiles(all []manifest, name string, recursive bool) ([]manifest, error) {
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return fs.SkipDir // like kubectl, subfolders are read only with --recursive
		case entry.IsDir(), path != name && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // the file was only read, so a failed close has no effect
		all, err = appendManifests(all, path, file)
		return err
	})
	return all, shortPathError(err)
}

// shortPathError removes the name of the system call from a *fs.PathError; other errors are returned unchanged.
func shortPathError(err error) error {
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("%s: %w", missing.Path, missing.Err)
	}
	return err
}

// maxInputBytes is the maximum size of one file, response or standard input, in bytes.
const maxInputBytes = 64 << 20

// readInput reads a source completely. A source that exceeds maxInputBytes is an error.
func readInput(source string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if len(text) > maxInputBytes {
		return nil, fmt.Errorf("%s: expected at most %d MiB, received more; split it into several files", source, maxInputBytes>>20)
	}
	return text, nil
}

func appendManifests(all []manifest, source string, r io.Reader) ([]manifest, error) {
	text, err := readInput(source, r)
	if err != nil {
		return nil, err
	}
	number := 0
	for doc, err := range document.ParseYAMLStream(text, document.Limits{MaxBytes: maxInputBytes}) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		number++
		for _, item := range expandList(doc) {
			m := manifest{source, item}
			if err := m.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", documentName(source, number), err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// documentName returns the name of a YAML document of a source, for errors. The number is omitted for the first document.
func documentName(source string, number int) string {
	if number == 1 {
		return source
	}
	return fmt.Sprintf("%s: document %d", source, number)
}

// expandList returns the items of a List, or of a typed list such as ConfigMapList, whose items may omit apiVersion and
// kind. It returns any other document as the only item.
func expandList(doc document.Value) []document.Value {
	kind, isList := strings.CutSuffix(doc.Get("kind").Text(), "List")
	if !isList || doc.Get("items").Kind() != document.List {
		return []document.Value{doc}
	}
	var items []document.Value
	for _, item := range doc.Get("items").Items() {
		if kind != "" && item.Kind() == document.Map && item.Get("kind").IsAbsent() && item.Get("apiVersion").IsAbsent() {
			item = item.With("kind", document.NewString(kind)).With("apiVersion", doc.Get("apiVersion"))
		}
		items = append(items, item)
	}
	return items
}

// check returns an error for an object without apiVersion, kind or metadata.name.
func (m manifest) check() error {
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		switch v := m.doc.Lookup(path...); {
		case v.Kind() == document.String && v.Text() != "":
		case v.IsAbsent():
			return fmt.Errorf("expected an object with %s, received %s", strings.Join(path, "."), formatValue(m.doc))
		default: // YAML reads unquoted words such as 1e3 and true as other types
			return fmt.Errorf("%s: expected a string, received %s; quote the value", strings.Join(path, "."), formatValue(v))
		}
	}
	return nil
}
