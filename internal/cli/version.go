package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/document"
)

// Version, Commit and Date describe a release. They are set by the linker:
//
//	go build -ldflags "-X github.com/cadastre/cadastre/internal/cli.Version=v1.2.3 -X …cli.Commit=… -X …cli.Date=…"
//
// Empty values are taken from the build information that the go command embeds: the module version for go install
// MODULE@VERSION, the revision and commit time for builds in a checkout.
var Version, Commit, Date string

// buildInfo is the version, commit and date of the executable.
type buildInfo struct {
	version, commit, date string
}

// newBuildInfo returns version, commit and date, which the linker may have set. It takes empty values from build; values
// that build lacks too are "unknown".
func newBuildInfo(version, commit, date string, build *debug.BuildInfo) buildInfo {
	b := buildInfo{version, commit, date}
	if build == nil {
		build = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	setDefault(&b.version, build.Main.Version)
	if revision := settings["vcs.revision"]; b.commit == "" && revision != "" {
		b.commit = revision
		if settings["vcs.modified"] == "true" {
			b.commit += "-dirty"
		}
	}
	setDefault(&b.date, settings["vcs.time"])
	// A pseudo-version, such as v0.0.0-20260102030405-0123456789ab, contains the commit and its time.
	if parts := strings.Split(b.version, "-"); len(parts) >= 3 {
		setDefault(&b.commit, strings.TrimSuffix(parts[len(parts)-1], "+dirty"))
		if time := parts[len(parts)-2]; len(time) >= 14 {
			setDefault(&b.date, formatPseudoTime(time[len(time)-14:]))
		}
	}
	for _, value := range []*string{&b.version, &b.commit, &b.date} {
		setDefault(value, "unknown")
	}
	return b
}

func setDefault(value *string, text string) {
	if *value == "" {
		*value = text
	}
}

// formatPseudoTime converts the timestamp of a pseudo-version, yyyymmddhhmmss, to RFC 3339. It returns "" for other texts.
func formatPseudoTime(text string) string {
	if strings.Trim(text, "0123456789") != "" {
		return ""
	}
	return fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", text[:4], text[4:6], text[6:8], text[8:10], text[10:12], text[12:])
}

func versionCommand() *cobra.Command {
	var format output
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version, commit and date of the executable",
		Long: `Print the version, commit and date of the executable. They are those of the release or, for go install and go build,
those of the module and the checkout that the go command has recorded.`,
		Example: `  cadastre version
  cadastre version -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("version: expected no arguments, received %q", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := format.check(); err != nil {
				return err
			}
			build, _ := debug.ReadBuildInfo() // nil if the executable was built without module support
			b := newBuildInfo(Version, Commit, Date, build)
			if format.format != "text" {
				return format.print(c.OutOrStdout(), b.value())
			}
			_, err := fmt.Fprint(c.OutOrStdout(), b.text())
			return err
		},
	}
	format.bind(command.Flags(), "text", "json", "yaml")
	completeWords(command, "output", format.formats...)
	return command
}

func (b buildInfo) text() string {
	return fmt.Sprintf("cadastre %s\ncommit   %s\ndate     %s\ngo       %s %s/%s\n",
		b.version, b.commit, b.date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (b buildInfo) value() document.Value {
	return document.NewMap(
		document.Field{Name: "version", Value: document.NewString(b.version)},
		document.Field{Name: "commit", Value: document.NewString(b.commit)},
		document.Field{Name: "date", Value: document.NewString(b.date)},
		document.Field{Name: "goVersion", Value: document.NewString(runtime.Version())},
		document.Field{Name: "platform", Value: document.NewString(runtime.GOOS + "/" + runtime.GOARCH)},
	)
}
