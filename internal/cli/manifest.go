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

// readManifests reads objects from names: files, folders (including subfolders if recursive is set), URLs, and "-" for
// stdin. It expands lists into their items.
func readManifests(ctx context.Context, names []string, recursive bool, stdin io.Reader) ([]manifest, error) {
	if len(names) == 0 {
		return nil, &usageError{errors.New("files must be given with -f")}
	}
	var manifests []manifest
	for _, name := range names {
		var err error
		switch {
		case name == "-":
			manifests, err = appendManifests(manifests, "standard input", stdin)
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			manifests, err = appendURL(ctx, manifests, name, urlTimeout)
		default:
			manifests, err = appendFiles(manifests, name, recursive)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(manifests) == 0 {
		return nil, fmt.Errorf("found no objects in %s", strings.Join(names, ", "))
	}
	return manifests, nil
}

// urlTimeout is the maximum duration of a download, including the body.
const urlTimeout = time.Minute

func appendURL(ctx context.Context, manifests []manifest, address string, timeout time.Duration) ([]manifest, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	manifests, err := readURL(ctx, manifests, address)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: no complete response within %v", address, timeout)
	}
	return manifests, err
}

func readURL(ctx context.Context, manifests []manifest, address string) ([]manifest, error) {
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
	return appendManifests(manifests, address, response.Body)
}

// appendFiles appends to all the objects of the named file or, if name is a folder, of the .yaml, .yml and .json files in
// it.
func appendFiles(manifests []manifest, name string, recursive bool) ([]manifest, error) {
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
		manifests, err = appendManifests(manifests, path, file)
		return err
	})
	return manifests, shortPathError(err)
}

// shortPathError removes the name of the system call from err if err wraps a *fs.PathError. It returns any other err
// unchanged.
func shortPathError(err error) error {
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("%s: %w", missing.Path, missing.Err)
	}
	return err
}

// maxInputBytes is the maximum size of one file, response or standard input, in bytes.
const maxInputBytes = 64 << 20

// readInput reads r completely. It returns an error that names source if r has more than maxInputBytes.
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

func appendManifests(manifests []manifest, source string, r io.Reader) ([]manifest, error) {
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
			manifests = append(manifests, m)
		}
	}
	return manifests, nil
}

// documentName returns the name of the YAML document with the given number in source, for errors. It omits the number of
// the first document.
func documentName(source string, number int) string {
	if number == 1 {
		return source
	}
	return fmt.Sprintf("%s: document %d", source, number)
}

// expandList returns the items of a List, or of a typed list such as ConfigMapList, whose items may omit apiVersion and
// kind. It returns any other doc as the only item.
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

// check returns an error if the object lacks apiVersion, kind or metadata.name.
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
