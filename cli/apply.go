package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// migrationSwitch is the environment variable that turns migration off; kubectl's works as well.
const migrationSwitch, kubectlMigrationSwitch = "CADASTRE_CSA_MIGRATION", "KUBECTL_ENABLE_CSA_MIGRATION"

type applyFlags struct {
	connection              connection
	output                  output
	input                   input
	manager                 string
	force                   bool
	forcePaths, unset       []string
	onlyCreate, onlyUpdate  bool
	dryRun                  bool
	migrationOff            bool
	writtenForce, writtenUn []ownership.WrittenPath
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
others fail.`,
		Example: `  cadastre apply -f web.yaml
  cadastre apply -f deploy/ --manager gitops --force-path spec.replicas
  cadastre apply -f web.yaml --unset 'spec.template.spec.containers[name=app].resources.limits.cpu'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("apply: expected no arguments, received %q; name files with -f", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return applyFiles(c.Context(), f, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	f.connection.bind(flags)
	f.output.bind(flags, "text", "json", "yaml", "name")
	f.input.bind(flags, "apply")
	flags.StringVar(&f.manager, "manager", ownership.Kubectl, "the `name` to apply as")
	flags.BoolVar(&f.force, "force", false, "take over fields that others own")
	flags.StringArrayVar(&f.forcePaths, "force-path", nil, "take over only the field at this `path`, with all that is in it; may be repeated")
	flags.StringArrayVar(&f.unset, "unset", nil, "also say that the field at this `path` must be absent; may be repeated")
	flags.BoolVar(&f.onlyCreate, "only-create", false, "fail for objects that are there")
	flags.BoolVar(&f.onlyUpdate, "only-update", false, "fail for objects that are not there")
	flags.BoolVar(&f.dryRun, "dry-run", false, "have the server check it, and write nothing")
	return command
}

// check reads the flags, and refuses those that can't work before anything is done.
func (f *applyFlags) check() error {
	if f.onlyCreate && f.onlyUpdate {
		return &usageError{errors.New("--only-create and --only-update exclude each other")}
	}
	if f.force && len(f.forcePaths) > 0 {
		return &usageError{errors.New("--force takes over everything: expected either it or --force-path")}
	}
	for _, paths := range []struct {
		texts []string
		read  *[]ownership.WrittenPath
	}{{f.forcePaths, &f.writtenForce}, {f.unset, &f.writtenUn}} {
		for _, text := range paths.texts {
			p, err := ownership.ParsePath(text)
			if err != nil {
				return &usageError{err}
			}
			*paths.read = append(*paths.read, p)
		}
	}
	for _, name := range []string{migrationSwitch, kubectlMigrationSwitch} {
		if on, err := strconv.ParseBool(os.Getenv(name)); err == nil && !on {
			f.migrationOff = true
		}
	}
	return f.output.check()
}

// applyFiles applies one object after the other.
func applyFiles(ctx context.Context, f applyFlags, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return err
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return err
	}
	failed := 0
	for _, m := range manifests {
		if err := f.applyOne(ctx, c, namespace, m, stdout, stderr); err != nil {
			failed++
			fmt.Fprintf(stderr, "%v\n", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("apply: %d of %d objects failed", failed, len(manifests))
	}
	return nil
}

// application is one object on its way.
type application struct {
	applyFlags
	cluster *cluster.Cluster
	target  target
	config  document.Value
	live    apply.Object
	exists  bool
}

// applyOne goes as follows: what is there is read; what client-side apply wrote is migrated; the configuration is
// applied; conflicts at the paths that may be forced are forced.
func (f applyFlags) applyOne(ctx context.Context, c *cluster.Cluster, namespace string, m manifest, stdout, stderr io.Writer) error {
	a := &application{applyFlags: f, cluster: c, config: m.doc}
	var err error
	if a.target, err = m.target(ctx, c, namespace); err != nil {
		return err
	}
	for _, p := range f.writtenUn {
		if a.config, err = p.Unset(a.config); err != nil {
			return fmt.Errorf("%s: --unset: %w", m.source, err)
		}
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	from, err := a.migrate(ctx)
	if err != nil {
		return err
	}
	after, err := a.apply(ctx)
	if conflicts := conflictsOf(err, f.manager, a.live, a.config); len(conflicts) > 0 {
		fmt.Fprintf(stderr, "%s: %d %s\n", a.target, len(conflicts), plural(len(conflicts), "conflict", "conflicts"))
		printConflicts(stderr, conflicts, time.Now())
		return fmt.Errorf("%s: not applied", a.target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, err)
	}
	return a.tell(after, from, stdout)
}

// read gets the object as it is, and refuses what --only-create and --only-update exclude.
func (a *application) read(ctx context.Context) error {
	var err error
	a.live, err = a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	a.exists = err == nil
	switch {
	case err != nil && !cluster.IsCode(err, http.StatusNotFound):
		return fmt.Errorf("%s: %w", a.target, err)
	case a.exists && a.onlyCreate:
		return fmt.Errorf("%s: not applied: it is there already, and --only-create was asked for", a.target)
	case !a.exists && a.onlyUpdate:
		return fmt.Errorf("%s: not applied: it is not there, and --only-update was asked for", a.target)
	case a.onlyUpdate:
		a.config = a.asRead("uid") // servers refuse to create an object with a uid
	}
	return nil
}

// migrate hands what client-side apply wrote to the manager, and returns whose it was.
func (a *application) migrate(ctx context.Context) ([]string, error) {
	if !a.exists || a.migrationOff || a.dryRun {
		return nil, nil
	}
	run := migrationRun{cluster: a.cluster, migration: ownership.Migration{To: a.manager}, write: true}
	done := run.one(ctx, found{a.target, a.live})
	if done.err != nil || done.outcome != migrated {
		return nil, done.err
	}
	var from []string
	for _, m := range done.moves {
		from = append(from, m.From.Manager)
	}
	var err error
	a.live, err = a.target.get(ctx, a.cluster)
	return from, err
}

// apply applies; if nothing but what may be forced is in the way, it forces, provided that the object has not
// changed since.
func (a *application) apply(ctx context.Context) (apply.Object, error) {
	after, err := a.send(ctx, a.config, a.force)
	conflicts := conflictsOf(err, a.manager, a.live, a.config)
	if len(conflicts) == 0 || len(a.writtenForce) == 0 {
		return after, err
	}
	forced, pathErr := a.forced()
	if pathErr != nil {
		return after, pathErr
	}
	for _, c := range conflicts {
		if c.path == nil || fieldset.New(c.path).Covered(forced).IsEmpty() {
			return after, err
		}
	}
	return a.send(ctx, a.asRead("resourceVersion"), true)
}

// forced are the fields that may be forced.
func (a *application) forced() (fieldset.Set, error) {
	paths := make([]fieldset.Path, len(a.writtenForce))
	for i, p := range a.writtenForce {
		var err error
		if paths[i], err = p.In(a.live); err != nil {
			return fieldset.Set{}, fmt.Errorf("--force-path: %w", err)
		}
	}
	return fieldset.New(paths...), nil
}

// asRead says in the configuration that only the object is meant that was read: that of the same uid, or of
// the same resourceVersion.
func (a *application) asRead(name string) document.Value {
	metadata := a.config.Get("metadata").With(name, a.live.Document.Lookup("metadata", name))
	return a.config.With("metadata", metadata)
}

func (a *application) send(ctx context.Context, config document.Value, force bool) (apply.Object, error) {
	options := cluster.ApplyOptions{Manager: a.manager, Force: force, DryRun: a.dryRun, OnlyCreate: a.onlyCreate}
	return a.cluster.Apply(ctx, a.target.kind, a.target.namespace, a.target.name, config, options)
}

// tell prints what was done.
func (a *application) tell(after apply.Object, from []string, stdout io.Writer) error {
	switch a.output.form {
	case "json", "yaml":
		if a.output.form == "yaml" {
			fmt.Fprintln(stdout, "---")
		}
		return a.output.print(stdout, after.Document)
	case "name":
		_, err := fmt.Fprintln(stdout, a.target)
		return err
	}
	did := "changed"
	switch revision := a.live.Document.Lookup("metadata", "resourceVersion"); {
	case !a.exists:
		did = "created"
	case revision.Text() == after.Document.Lookup("metadata", "resourceVersion").Text() && !a.dryRun:
		did = "unchanged"
	case a.dryRun:
		did = "applied"
	}
	if len(from) > 0 {
		slices.Sort(from)
		did += fmt.Sprintf(", and took over from %s", strings.Join(slices.Compact(from), ", "))
	}
	if a.dryRun {
		did += " (dry run)"
	}
	_, err := fmt.Fprintf(stdout, "%s %s\n", a.target, did)
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
