package cli

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
)

// maxVerbosity is the maximum of --v, as documented for Kubernetes.
const maxVerbosity = 10

// newLog returns a logger that writes to w in a format of --logging-format, text or json. It logs the messages of Kubernetes' level
// V(n) if n is at most verbosity; their level is -n, as klog's.
func newLog(format string, verbosity int, w io.Writer) (*slog.Logger, error) {
	if verbosity < 0 || verbosity > maxVerbosity {
		return nil, fmt.Errorf("--v: expected a number from 0 to %d, received %d", maxVerbosity, verbosity)
	}
	options := &slog.HandlerOptions{Level: slog.Level(-verbosity), ReplaceAttr: nameLevel}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--logging-format: expected text or json, received %q", format)
}

// nameLevel makes the level of messages between INFO and DEBUG INFO, as klog does.
func nameLevel(groups []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && len(groups) == 0 && a.Key == slog.LevelKey && level < slog.LevelInfo && level > slog.LevelDebug {
		a.Value = slog.AnyValue(slog.LevelInfo)
	}
	return a
}

// logStart logs the version of the executable, and the flags whose values are not the defaults. No flag contains a secret: secrets are
// in files.
func logStart(log *slog.Logger, flags *pflag.FlagSet) {
	build, _ := debug.ReadBuildInfo() // nil if the executable was built without module support
	b := newBuildInfo(Version, Commit, Date, build)
	set := []string{}
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.String() != f.DefValue {
			set = append(set, "--"+f.Name+"="+f.Value.String())
		}
	})
	log.Info("starting", "version", b.version, "commit", b.commit, "go", strings.TrimPrefix(runtime.Version(), "go"),
		"platform", runtime.GOOS+"/"+runtime.GOARCH, "cpus", runtime.GOMAXPROCS(0), "flags", set)
}
