package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/ownership"
)

// Environment variables that disable the migration from client-side apply. The second one is kubectl's.
const migrationSwitch, kubectlMigrationSwitch = "CADASTRE_CSA_MIGRATION", "KUBECTL_ENABLE_CSA_MIGRATION"

// errNoManager is the usage error of verbs that require --manager.
var errNoManager = errors.New("--manager: expected the name of a manager, received none")

type applyFlags struct {
	connection             connection
	output                 output
	input                  input
	manager                string
	force                  bool
	forceTexts, unsetTexts []string
	onlyCreate, onlyUpdate bool
	dryRun                 bool
	quiet                  quietFlag
	// The fields below are set by check.
	forced             forcedPaths
	appliedDefinitions *appliedDefinitions
	unsetPaths         []ownership.PathExpression
	migrationOff       bool
}

func applyCommand() *cobra.Command {
	var f applyFlags
	command := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Apply configurations, server-side, and take over what client-side apply wrote",
		Long: `Apply configurations. Fields that client-side apply of kubectl wrote are handed to the manager first, so
that what is left out is removed; ` + migrationSwitch + `=false turns that off, and so does
` + kubectlMigrationSwitch + `=false.

Conflicts are shown as a table, and what can be done about them. All files are applied, whether or not
others fail; when the server is gone, it stops and lists what was not applied.`,
		Example: `  cadastre apply -f web.yaml
  cadastre apply -f deploy/ --manager gitops --force-path spec.replicas
  cadastre apply -f web.yaml --unset 'spec.template.spec.containers[name=app].resources.limits.cpu'`,
		Args: filesOnly,
		RunE: func(c *cobra.Command, _ []string) error {
			return applyFiles(c.Context(), f, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	f.connection.bind(flags)
	f.output.bind(flags, "text", "json", "yaml", "name")
	f.input.bind(flags, "apply")
	flags.StringVar(&f.manager, "manager", ownership.KubectlManager, "the `name` to apply as")
	flags.BoolVar(&f.force, "force", false, "take over fields that others own")
	flags.StringArrayVar(&f.forceTexts, "force-path", nil, "take over only the field at this `path`, with all that is in it; may be repeated")
	flags.StringArrayVar(&f.unsetTexts, "unset", nil, "also say that the field at this `path` must be absent, if the server understands that; may be repeated")
	flags.BoolVar(&f.onlyCreate, "only-create", false, "fail for objects that are there")
	flags.BoolVar(&f.onlyUpdate, "only-update", false, "fail for objects that are not there")
	bindDryRun(flags, &f.dryRun, "have the server check it, and write nothing")
	f.quiet.bind(flags)
	completeConnection(command, &f.connection)
	completeManagers(command, &f.connection, &f.input)
	completePaths(command, &f.connection, "force-path", f.forcePathCandidates)
	completePaths(command, &f.connection, "unset", f.unsetPathCandidates)
	completeWords(command, "output", f.output.formats...)
	completeWords(command, "dry-run", dryRunWords...)
	return command
}

// check validates and parses the flags before any request is sent.
func (f *applyFlags) check() error {
	if f.manager == "" {
		return &usageError{errNoManager}
	}
	if f.onlyCreate && f.onlyUpdate {
		return &usageError{errors.New("--only-create and --only-update exclude each other")}
	}
	if f.force && len(f.forceTexts) > 0 {
		return &usageError{errors.New("--force takes over everything: expected either it or --force-path")}
	}
	forced, err := parsePaths(f.forceTexts)
	if err != nil {
		return err
	}
	f.forced = newForcedPaths(forced)
	f.appliedDefinitions = &appliedDefinitions{dryRun: f.dryRun}
	if f.unsetPaths, err = parsePaths(f.unsetTexts); err != nil {
		return err
	}
	if f.migrationOff, err = isMigrationOff(); err != nil {
		return err
	}
	return f.output.check()
}

// isMigrationOff reports whether an environment variable disables the migration from client-side apply.
func isMigrationOff() (bool, error) {
	off := false
	for _, name := range []string{migrationSwitch, kubectlMigrationSwitch} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		on, err := strconv.ParseBool(text)
		if err != nil {
			return false, &usageError{fmt.Errorf("$%s: expected true or false, received %q", name, text)}
		}
		off = off || !on
	}
	return off, nil
}

// participle returns the word for a processed object in messages such as "not applied".
func (f *applyFlags) participle() string {
	if f.dryRun {
		return "tried"
	}
	return "applied"
}

// applyFiles applies the objects of all files in order.
func applyFiles(ctx context.Context, f applyFlags, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return nothingDone(err, f.participle())
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return err
	}
	b := batch{
		verb: "apply", participle: f.participle(),
		progress: newProgress(stderr, f.quiet.quiet), stdout: stdout, stderr: stderr,
	}
	warned := printWarnings(c, stderr)
	err = b.run(manifests, func(m manifest, stdout, stderr io.Writer) error {
		warned.w = stderr
		return f.applyOne(ctx, c, namespace, m, stdout, stderr)
	})
	if !isServerLost(err) { // without a response, unused paths cannot be determined
		f.forced.reportUnused(stderr)
	}
	return err
}
