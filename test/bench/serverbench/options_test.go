package serverbench

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseFlags(t *testing.T) {
	parse := func(arguments ...string) (Options, error) {
		flags := flag.NewFlagSet("bench", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		return ParseFlags(flags, arguments, Defaults{Cases: "get", Window: 2 * time.Second, Implementations: AllFlags})
	}
	o, err := parse("-run", "^get$", "-clients", "4", "-servers", CadastreFlag)
	if err != nil || !o.Selected.MatchString("get") || o.Selected.MatchString("list") || o.Load.Clients != 4 ||
		o.Load.Window != 2*time.Second || o.Load.Warmup != 500*time.Millisecond || len(o.Implementations) != 1 {
		t.Errorf("ParseFlags() = %+v, %v, want the given flags, the defaults of the others, and no error", o, err)
	}
	for wrong, arguments := range map[string][]string{
		"must be positive": {"-rounds", "0"}, "missing closing": {"-run", "("}, "unknown": {"-servers", "unknown"}, "not defined": {"-none"},
	} {
		if _, err := parse(arguments...); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("ParseFlags(%v) = %v, want an error with %q", arguments, err, wrong)
		}
	}
}

// TestInFolder checks that the folder is removed, and that the error of use is returned.
func TestInFolder(t *testing.T) {
	below, failed := t.TempDir(), errors.New("failed")
	err := InFolder(below, func(folder string) error {
		if err := os.WriteFile(filepath.Join(folder, "data"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return failed
	})
	left, _ := os.ReadDir(below)
	if !errors.Is(err, failed) || len(left) > 0 {
		t.Errorf("InFolder() = %v, remaining files %v; want the error of use and no files", err, left)
	}
}
