package applytest

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed scripts
var embedded embed.FS

// extension is the file extension of scripts.
const extension = ".txtar"

// Scripts parses the scripts in folder and its subfolders whose names match run, and returns them sorted by name. A nil
// folder means the scripts of this package; a nil run selects all scripts. Scripts returns an error if it finds no script.
func Scripts(folder fs.FS, run *regexp.Regexp) ([]*Script, error) {
	if folder == nil {
		own, err := fs.Sub(embedded, "scripts")
		if err != nil {
			return nil, err
		}
		folder = own
	}
	var scripts []*Script
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != extension {
			return err
		}
		short := strings.TrimSuffix(name, extension)
		if run != nil && !run.MatchString(short) {
			return nil
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		script, err := Parse(short, text)
		if err != nil {
			return err
		}
		scripts = append(scripts, script)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scripts: %w", err)
	}
	switch {
	case len(scripts) == 0 && run != nil && run.String() != "":
		return nil, fmt.Errorf("expected scripts with a name that matches %q, found none", run)
	case len(scripts) == 0:
		return nil, fmt.Errorf("expected files that end in %s in the folder, found none", extension)
	}
	return scripts, nil
}
