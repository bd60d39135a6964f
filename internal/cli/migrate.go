package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

type migrateFlags struct {
	connection    connection
	output        output
	input         input
	all           bool
	allNamespaces bool
	selector      string
	from          []string
	fromSet       bool
	to            string
	subresources  bool
	dryRun, yes   bool
	parallel      int
	quiet         quietFlag
}

func migrateCommand() *cobra.Command {
	var f migrateFlags
	command := &cobra.Command{
		Use:   "migrate (TYPE[,TYPE…] [NAME…] | TYPE/NAME… | -f FILE | -k FOLDER | --all) --to MANAGER",
		Short: "Move ownership from client-side apply to a Server-Side Apply manager",
		Long: `Move the ownership of all fields of some field managers to a manager that uses Server-Side Apply. Its next apply
then removes fields that its configuration does not contain, and changes fields without conflicts.

Only managedFields change; values, annotations and the ownership of status do not. Objects that were migrated before
are skipped, so that the command can be interrupted and repeated. On a terminal, the command shows a preview and asks
for confirmation; --yes skips the question, and --dry-run stops after the preview.

Without --from, the command selects the same managers as kubectl apply --server-side: kubectl-client-side-apply, and
any manager that owns the last-applied-configuration annotation with the operation Update. If --to is kubectl, the
manager ` + ownership.LastAppliedManager + ` becomes an owner of the annotation, so that a return to client-side apply
remains possible.`,
		Example: `  cadastre migrate deployment web --to kubectl --dry-run
  cadastre migrate deployments,services -A --from kubectl-client-side-apply,helm --to gitops
  cadastre migrate --all -A --to kubectl --yes -o json >report.json`,
		RunE: func(c *cobra.Command, args []string) error {
			f.fromSet = c.Flags().Changed("from")
			return migrate(c.Context(), f, args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	f.connection.bind(flags)
	f.output.bind(flags, "text", "json", "yaml", "name")
	f.input.bind(flags)
	flags.BoolVar(&f.all, "all", false, "Migrate objects of all kinds.")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Migrate objects in all namespaces.")
	flags.StringVarP(&f.selector, "selector", "l", "", "Migrate only objects that match this label `selector`.")
	flags.StringSliceVar(&f.from, "from", nil, "The field `managers` that release their fields, of both operations. Without the flag, the managers of client-side apply release theirs.")
	flags.StringVar(&f.to, "to", "", "The field `manager` that receives the fields with the operation Apply. Required.")
	flags.BoolVar(&f.subresources, "subresources", false, "With --from, also migrate fields that are owned at subresources such as scale. Fields of status are never migrated.")
	bindDryRun(flags, &f.dryRun, "Print the fields that would move, and write nothing.")
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do not ask for confirmation.")
	f.quiet.bind(flags)
	flags.IntVar(&f.parallel, "parallel", 8, "The `number` of objects that are written in parallel.")
	completeObjects(command, &f.connection, math.MaxInt, "from", "to")
	completeWords(command, "output", f.output.formats...)
	completeWords(command, "dry-run", dryRunWords...)
	return command
}

// move returns the function that computes the migration of one object, as selected by the flags.
func (f migrateFlags) move() func(apply.Object) (ownership.Result, error) {
	if len(f.from) == 0 && !f.subresources {
		return takeOver(f.to)
	}
	m := ownership.Migration{To: f.to, KeepLastApplied: f.to == ownership.KubectlManager}
	subresource := ""
	if f.subresources {
		subresource = ownership.AnySubresource
	}
	for _, name := range f.from {
		m.From = append(m.From, ownership.Selector{Manager: name, Subresource: subresource})
	}
	return func(o apply.Object) (ownership.Result, error) { return ownership.Migrate(o, m) }
}

// includesUntracked reports whether o, an object without managedFields, is migrated. By default, it is migrated only if it
// has the last-applied-configuration annotation; if --from contains before-first-apply, it is always migrated.
func (f migrateFlags) includesUntracked(o apply.Object) bool {
	if len(f.from) == 0 {
		return lastApplied(o.Document) != ""
	}
	return slices.Contains(f.from, apply.BeforeFirstApply)
}

func (f migrateFlags) check(args []string) error {
	selectors := 0
	for _, named := range []bool{len(args) > 0, f.input.isSet(), f.all} {
		if named {
			selectors++
		}
	}
	switch {
	case f.to == "":
		return &usageError{errors.New("--to must be set to the field manager that receives the fields")}
	case f.fromSet && (len(f.from) == 0 || slices.Contains(f.from, "")):
		return &usageError{fmt.Errorf("--from: expected names of field managers, received %q; omit the flag to migrate from client-side apply", strings.Join(f.from, ","))}
	case f.subresources && !f.fromSet:
		return &usageError{errors.New("--subresources requires --from: client-side apply does not write to subresources")}
	case selectors != 1:
		return &usageError{errors.New("migrate: expected either TYPE and NAME, or -f, or -k, or --all")}
	case f.selector != "" && f.namesObjects(args):
		return &usageError{errors.New("migrate: expected either the names of objects or --selector, received both")}
	case f.allNamespaces && f.namesObjects(args):
		return &usageError{errors.New("migrate: expected either the names of objects or --all-namespaces, received both")}
	case selectorProblem(f.selector) != nil:
		return &usageError{fmt.Errorf("--selector: expected labels, such as app=web,tier!=test, received %q: %w", f.selector, selectorProblem(f.selector))}
	case f.parallel < 1:
		return &usageError{fmt.Errorf("--parallel: expected 1 or more, received %d", f.parallel)}
	}
	return f.output.check()
}

// selectorProblem returns the error of parsing text as a label selector; nil if text is valid. The selector is checked
// before the run, because the server would report the error once for each kind.
func selectorProblem(text string) error {
	_, err := labels.Parse(text)
	return err
}

// namesObjects reports whether the flags or args name single objects, as opposed to selecting all objects of a kind.
func (f migrateFlags) namesObjects(args []string) bool {
	return f.input.isSet() || len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/")
}

// migrate runs the verb. On a terminal it previews the migration and asks for confirmation first.
func migrate(ctx context.Context, f migrateFlags, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.check(args); err != nil {
		return err
	}
	var manifests []manifest
	if f.input.isSet() {
		var err error
		if manifests, err = f.input.read(ctx, stdin); err != nil {
			return withNothingDone(err, "migrated")
		}
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress := newProgress(stderr, f.quiet.quiet)
	printWarnings(c, progress.wrapWriter(stderr))
	found, err := selectObjects(ctx, c, f, namespace, args, manifests, progress)
	if isServerLost(err) && f.namesObjects(args) {
		return f.reportNotAttempted(args, manifests, err, stdout, stderr)
	}
	if err != nil {
		return withNothingDone(err, "migrated")
	}
	run := migrationRun{
		cluster: c, to: f.to, move: f.move(), includesUntracked: f.includesUntracked, parallel: f.parallel, write: !f.dryRun, progress: progress, stop: stop,
	}
	if run.write && !f.yes && isTerminal(stdin) {
		if run, err = previewAndConfirm(ctx, run, found, stdin, stderr); err != nil || !run.write {
			return err
		}
	}
	run.printResult = f.output.resultPrinter(stdout, stderr, f.to)
	return f.finish(run.migrateAll(ctx, found), stdout, stderr)
}

// finish prints the summary or the report, and returns the error of the run. If standard output cannot be written, it prints
// the results to standard error, because the objects have been changed.
func (f migrateFlags) finish(report *migrationReport, stdout, stderr io.Writer) error {
	var err error
	if report.unprinted == nil {
		if err = report.finish(stdout, stderr, f.output); err == nil {
			return report.err()
		}
	}
	report.printToStderr(stderr, f.output)
	switch failed := report.err(); {
	case report.stopped != nil:
		return failed
	case failed != nil:
		return fmt.Errorf("%w; %w", failed, outputError(err))
	}
	return fmt.Errorf("migrate: %w", outputError(err))
}

// reportNotAttempted reports the objects that args or manifests name as not attempted, because the server does not respond.
// cause is the error of the request.
func (f migrateFlags) reportNotAttempted(args []string, manifests []manifest, cause error, stdout, stderr io.Writer) error {
	report := &migrationReport{to: f.to, stopped: cause}
	for _, m := range manifests {
		report.results = append(report.results, result{target: m.unresolvedTarget(), outcome: notAttempted})
	}
	names, err := parseNames(args)
	if err != nil {
		return err
	}
	for _, n := range names {
		report.results = append(report.results, result{target: target{kind: cluster.Kind{Name: n.kind}, name: n.name}, outcome: notAttempted})
	}
	return f.finish(report, stdout, stderr)
}

// previewAndConfirm prints the result of a dry run and prompts for confirmation. It returns run, with write set if the user
// confirmed. An object that fails in the dry run does not prevent the migration of the remaining objects.
func previewAndConfirm(ctx context.Context, run migrationRun, found objects, stdin io.Reader, stderr io.Writer) (migrationRun, error) {
	format := output{format: "text"}
	run.write, run.printResult = false, format.resultPrinter(stderr, stderr, run.to)
	preview := run.migrateAll(ctx, found)
	if err := preview.finish(stderr, stderr, format); err != nil {
		return run, err
	}
	n := preview.count(wouldMigrate)
	if n == 0 || preview.stopped != nil {
		return run, preview.err()
	}
	question := fmt.Sprintf("Migrate %d %s?", n, plural(n, "object", "objects"))
	if failed := preview.count(failedMigration); failed > 0 {
		question = fmt.Sprintf("Migrate %d %s and skip the %d that failed?", n, plural(n, "object", "objects"), failed)
	}
	var err error
	if run.write, err = confirm(ctx, question, stdin, stderr); err != nil {
		return run, fmt.Errorf("migrate: stopped: %w; nothing was migrated", err)
	}
	run.progress.restart()
	if !run.write {
		fmt.Fprintln(stderr, "Nothing was changed.")
	}
	return run, nil
}
