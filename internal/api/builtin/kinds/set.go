package kinds

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed */*.kind types/*.type
var builtinFiles embed.FS

// Set holds the declarations in the kind files and type files of one or more directories. It is immutable and safe for
// concurrent use.
type Set struct {
	// Kinds are the declarations of kinds, sorted by group and name; the core group is first.
	Kinds []*Declaration
	// Types are the declarations of types: first those of type files, then those of kind files, each in the order of files
	// and lines.
	Types []*Declaration
}

var added struct {
	sync.Mutex
	files []fs.FS
	read  bool
}

// Builtin returns the declarations of the built-in kinds and of the types that they share. The outlines of the files are
// parsed on the first call; the content of a section is parsed by the package that uses it.
var Builtin = sync.OnceValue(func() *Set {
	added.Lock()
	defer added.Unlock()
	added.read = true
	set, err := Read(append([]fs.FS{builtinFiles}, added.files...)...)
	if err != nil {
		panic(err) // unreachable: the files are embedded, and a test reads them
	}
	return set
})

// Read reads the files *.kind and *.type of directories and their subdirectories. The error joins the errors of all files;
// the set contains the valid declarations.
func Read(dirs ...fs.FS) (*Set, error) {
	set := &Set{}
	var local []*Declaration
	var errs []error
	for _, dir := range dirs {
		err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Ext(name) != ".kind" && path.Ext(name) != ".type" {
				return err
			}
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				return err
			}
			declarations, err := parseFile(name, string(text))
			errs = append(errs, err)
			for _, d := range declarations {
				switch {
				case d.IsKind:
					set.Kinds = append(set.Kinds, d)
				case path.Ext(name) == ".type":
					set.Types = append(set.Types, d)
				default:
					local = append(local, d)
				}
			}
			return nil
		})
		errs = append(errs, err)
	}
	set.Types = append(set.Types, local...)
	slices.SortStableFunc(set.Kinds, func(a, b *Declaration) int {
		return slices.Compare([]string{a.Group(), a.Name}, []string{b.Group(), b.Name})
	})
	return set, errors.Join(append(errs, set.checkNames())...)
}

// All returns the declarations of kinds, followed by the declarations of types.
func (s *Set) All() []*Declaration { return slices.Concat(s.Kinds, s.Types) }

// checkNames returns an error for each name that is declared more than once.
func (s *Set) checkNames() error {
	var errs []error
	seen := map[string]*Declaration{}
	for _, d := range s.All() {
		key := d.Name
		if d.IsKind {
			key = d.Group() + "/" + d.Name
		}
		if other := seen[key]; other != nil {
			errs = append(errs, d.Errorf(d.Line, "expected a new name, received %s, which %s:%d declares", d.Name, other.File, other.Line))
		}
		seen[key] = d
	}
	return errors.Join(errs...)
}

// checkFileName returns an error if a kind is in the wrong file: the name of the directory must be the group, and the name
// of the file the kind in lower case.
func (d *Declaration) checkFileName() error {
	if !d.IsKind {
		return nil
	}
	group := d.Property("group").Value
	if want := group + "/" + strings.ToLower(d.Name) + ".kind"; d.File != want {
		return d.Errorf(d.Line, "expected kind %s of group %s in file %s; rename the file", d.Name, group, want)
	}
	return nil
}

// Error is an error in a line of a kind file or type file.
type Error struct {
	File string
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
