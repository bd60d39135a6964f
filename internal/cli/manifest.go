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

// manifest is an object that somebody wrote down.
type manifest struct {
	// source is where: a file, an address, or "standard input".
	source string
	doc    document.Value
}

// name names the object as kubectl does, whether or not the server has its kind.
func (m manifest) name() string { return m.unresolvedTarget().String() }

// place is where the object says that it is, whether or not the server has its kind.
func (m manifest) unresolvedTarget() target {
	group, version, found := strings.Cut(m.doc.Get("apiVersion").Text(), "/")
	if !found {
		group, version = "", group
	}
	k := cluster.Kind{Group: group, Version: version, Name: m.doc.Get("kind").Text()}
	return targetOf(k, m.doc)
}

// readManifests reads files, folders, with or without the folders in them, addresses, and - for standard input. Lists count
// as what is in them.
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

// addressPatience is how long an address may take to answer, all of it.
const urlTimeout = time.Minute

func appendURL(ctx context.Context, all []manifest, address string, timeout time.Duration) ([]manifest, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	all, err := readURL(ctx, all, address)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: expected an answer within %v, received none, or not all of it", address, timeout)
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
	defer func() { _ = response.Body.Close() }() // it has been read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: expected 200 OK, received %s", address, response.Status)
	}
	return appendManifests(all, address, response.Body)
}

// appendFiles reads a file, or all files of a folder whose names say that they hold objects.
func appendFiles(all []manifest, name string, recursive bool) ([]manifest, error) {
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return fs.SkipDir // as kubectl does
		case entry.IsDir(), path != name && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		all, err = appendManifests(all, path, file)
		return err
	})
	return all, shortPathError(err)
}

// plainPath names the file of an error: how it was looked for is nobody's concern.
func shortPathError(err error) error {
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("%s: %w", missing.Path, missing.Err)
	}
	return err
}

// mostInput is how much is read from one place: far more than anybody applies, and far less than there is memory.
const maxInputBytes = 64 << 20

// readInput reads all of a text, unless that is too much.
func readInput(source string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if len(text) > maxInputBytes {
		return nil, fmt.Errorf("%s: expected at most %d MiB, received more; apply it in parts", source, maxInputBytes>>20)
	}
	return text, nil
}

func appendManifests(all []manifest, source string, r io.Reader) ([]manifest, error) {
	text, err := readInput(source, r)
	if err != nil {
		return nil, err
	}
	unresolvedTarget := 0
	for doc, err := range document.ParseYAMLStream(text, document.Limits{MaxBytes: maxInputBytes}) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		unresolvedTarget++
		for _, item := range expandList(doc) {
			m := manifest{source, item}
			if err := m.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", documentName(source, unresolvedTarget), err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// documentOf names a document of a source.
func documentName(source string, unresolvedTarget int) string {
	if unresolvedTarget == 1 {
		return source // most have one
	}
	return fmt.Sprintf("%s: document %d", source, unresolvedTarget)
}

// itemsOf returns what is in a List, or in a list of one kind, such as a ConfigMapList, whose items need not say again
// what they are; all else is itself.
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

// check refuses what does not say which object it is.
func (m manifest) check() error {
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		switch v := m.doc.Lookup(path...); {
		case v.Kind() == document.String && v.Text() != "":
		case v.IsAbsent():
			return fmt.Errorf("expected an object with %s, received %s", strings.Join(path, "."), formatValue(m.doc))
		default: // YAML takes many words for something else, such as n and 1e3
			return fmt.Errorf("%s: expected text, in quotes if need be, received %s", strings.Join(path, "."), formatValue(v))
		}
	}
	return nil
}
