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

// migrationSwitch and kubectlMigrationSwitch are the environment variables that disable the migration from client-side apply
// if they are false. The second one is defined by kubectl.
const migrationSwitch, kubectlMigrationSwitch = "CADASTRE_CSA_MIGRATION", "KUBECTL_ENABLE_CSA_MIGRATION"

// errNoManager is the usage error of verbs that require --manager.
var errNoManager = errors.New("--manager must be set to the name of a field manager")

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
	// check sets the fields below.
	forced             forcedPaths
	appliedDefinitions *appliedDefinitions
	unsetPaths         []ownership.PathExpression
	migrationOff       bool
}

func applyCommand() *cobra.Command {
	var f applyFlags
	command := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Apply configurations with Server-Side Apply, and migrate from client-side apply",
		Long: `Apply configurations with Server-Side Apply.

Fields that kubectl's client-side apply owns are moved to the manager first, so that fields that the configuration
no longer contains are removed. ` + migrationSwitch + `=false or ` + kubectlMigrationSwitch + `=false in the
environment disables this migration.

Conflicts are printed as a table with the owners and both values. An object that fails does not stop the others. If
the server stops responding, the run ends and lists the objects that were not applied.`,
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
	f.input.bind(flags)
	flags.StringVar(&f.manager, "manager", ownership.KubectlManager, "The `name` of the field manager.")
	flags.BoolVar(&f.force, "force", false, "Force all conflicts, which takes ownership of the fields.")
	flags.StringArrayVar(&f.forceTexts, "force-path", nil, "Force conflicts at or below this `path` only. Can be repeated.")
	flags.StringArrayVar(&f.unsetTexts, "unset", nil, "Remove the field at this `path` and own its absence, if the server supports unset markers. Can be repeated.")
	flags.BoolVar(&f.onlyCreate, "only-create", false, "Fail for objects that exist.")
	flags.BoolVar(&f.onlyUpdate, "only-update", false, "Fail for objects that do not exist.")
	bindDryRun(flags, &f.dryRun, "Send dry-run requests, which write nothing.")
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
		return &usageError{errors.New("--only-create and --only-update are mutually exclusive")}
	}
	if f.force && len(f.forceTexts) > 0 {
		return &usageError{errors.New("expected either --force or --force-path, received both")}
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

// participle returns the past participle in messages about processed objects, such as "not applied".
func (f *applyFlags) participle() string {
	if f.dryRun {
		return "checked"
	}
	return "applied"
}

// applyFiles applies the objects of all input files in order. An object that fails does not stop the run; applyFiles then
// returns an error that states how many objects failed.
func applyFiles(ctx context.Context, f applyFlags, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return withNothingDone(err, f.participle())
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
	if !isServerLost(err) { // without a response, it is unknown which paths of --force-path had an effect
		f.forced.reportUnused(stderr)
	}
	return err
}
