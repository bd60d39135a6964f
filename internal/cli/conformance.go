package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/applytest"
)

type conformanceFlags struct {
	kubeconfig, context string
	run, namespace      string
	scripts, record     string
	reports             []string
	parallel            int
	keep, list          bool
}

func conformanceCommand() *cobra.Command {
	var f conformanceFlags
	command := &cobra.Command{
		Use:   "conformance",
		Short: "Ask any Kubernetes API server what apply does there, and compare it with Kubernetes",
		Long: `Run behaviour scripts against a Kubernetes API server, and tell where its answers are not
those of kube-apiserver.

Each script runs in a namespace of its own, which is removed after it. If you may not make
namespaces, give one with --namespace: scripts run in it one after the other, what they make
is removed, and scripts that write to anything else, or about a kind of which something is
there already, are skipped. Failures come with what was expected and received, and with the
request to repeat. At the end there is a table by area of what passed, failed and was
skipped; the reason of each skip is above it. The exit code is 1 if anything failed, or
could not be removed after the run, and 130 if the run was interrupted; then what the
scripts have made is removed, and the result is of those that ended. Interrupt twice to
leave at once.`,
		Example: `  cadastre conformance
  cadastre conformance --run '^conflict/' --report result.xml --report result.json
  cadastre conformance --namespace team-a
  cadastre conformance --list`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("conformance: expected no arguments, received %q; see cadastre conformance --help", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return conformance(c.Context(), f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "the kubeconfig `file` with the server's address and your credentials (default: $KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&f.context, "context", "", "the context of the kubeconfig to use, by `name`")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "run all scripts in this namespace, by `name`, one after the other, instead of making one for each")
	flags.StringVar(&f.run, "run", "", "run only the scripts whose name, such as removal/last-owner, matches the `expression`")
	flags.StringArrayVar(&f.reports, "report", nil, "write the result to a `file`, as JUnit if it ends in .xml, as JSON if it ends in .json; may be repeated")
	flags.StringVar(&f.scripts, "scripts", "", "run the scripts of a `folder` instead of those that are built in")
	flags.StringVar(&f.record, "record", "", "write into the scripts of a `folder` what the server answers, where it differs or nothing is expected yet")
	flags.IntVar(&f.parallel, "parallel", 8, "the `number` of scripts that run at once")
	flags.BoolVar(&f.keep, "keep", false, "leave in place what the scripts make, to look at it, and tell in which namespace it is")
	flags.BoolVar(&f.list, "list", false, "list the scripts and the behaviours, and ask nothing")
	_ = flags.MarkHidden("record") // for authors of scripts; the error is impossible, because the flag exists
	return command
}

// options validates the flags before any request is sent.
func (f conformanceFlags) options() (applytest.Options, error) {
	options := applytest.Options{Namespace: f.namespace, Parallel: f.parallel, Keep: f.keep}
	run, err := regexp.Compile(f.run)
	if err != nil {
		return options, fmt.Errorf("--run: expected a regular expression, received %q: %w", f.run, err)
	}
	options.Run = run
	if f.parallel < 1 {
		return options, fmt.Errorf("--parallel: expected 1 or more, received %d", f.parallel)
	}
	if err := f.checkReports(); err != nil {
		return options, err
	}
	if folder := f.folder(); folder != "" {
		if _, err := os.ReadDir(folder); err != nil {
			return options, fmt.Errorf("%s: expected a folder of scripts: %w", f.folderFlag(), err)
		}
		options.Scripts = os.DirFS(folder)
	}
	return options, nil
}

// checkReports rejects report files that cannot be written, before a run that may take minutes.
func (f conformanceFlags) checkReports() error {
	if f.list && len(f.reports) > 0 {
		return errors.New("--list: expected no --report: nothing is run")
	}
	for _, name := range f.reports {
		if reportWriter(name) == nil {
			return fmt.Errorf("--report: expected a name that ends in .xml or .json, received %q", name)
		}
		if err := checkWritable(name); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	return nil
}

// checkWritable reports whether a file can be written, without changing its content.
func checkWritable(name string) error {
	_, statErr := os.Lstat(name) // Lstat: a dangling symbolic link exists
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = file.Close()
	if errors.Is(statErr, os.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func (f conformanceFlags) folder() string {
	if f.record != "" {
		return f.record
	}
	return f.scripts
}

// folderFlag returns the flag that set the folder.
func (f conformanceFlags) folderFlag() string {
	if f.record != "" {
		return "--record"
	}
	return "--scripts"
}

func conformance(ctx context.Context, f conformanceFlags, stdout, stderr io.Writer) error {
	options, err := f.options()
	if err != nil {
		return &usageError{err}
	}
	if f.list {
		return listScripts(stdout, options)
	}
	report, err := f.runScripts(ctx, options, stderr)
	if report == nil {
		return f.writeStoppedReports(err)
	}
	written := writeResults(report, f, stdout)
	switch {
	case errors.Is(err, context.Canceled):
		interrupted := fmt.Errorf("conformance: interrupted: %d of %d scripts ended", len(report.Results), report.Scripts)
		return &exitError{exitInterrupted, errors.Join(interrupted, written)}
	case err != nil:
		return errors.Join(fmt.Errorf("conformance: %w", err), written)
	case written != nil:
		return written
	}
	return verdict(report)
}

// runScripts runs the scripts. The report is nil if no script could run.
func (f conformanceFlags) runScripts(ctx context.Context, options applytest.Options, stderr io.Writer) (report *applytest.Report, err error) {
	if options.Config, _, err = loadConfig(f.kubeconfig, &clientcmd.ConfigOverrides{CurrentContext: f.context}); err != nil {
		return nil, err
	}
	options.Progress = func(done, total int, result applytest.Result) {
		namespaceSuffix := ""
		if f.keep && result.Namespace != "" {
			namespaceSuffix = " in " + result.Namespace
		}
		fmt.Fprintf(stderr, "%*d/%d %s %s%s\n", len(fmt.Sprint(total)), done, total, result.Outcome, result.Name, namespaceSuffix)
	}
	if f.record != "" {
		options.Record = func(name string, text []byte) error {
			return os.WriteFile(filepath.Join(f.record, filepath.FromSlash(name)+".txtar"), text, 0o644)
		}
	}
	report, err = applytest.Run(ctx, options)
	switch {
	case report != nil:
		return report, err
	case ctx.Err() != nil:
		return nil, &exitError{exitInterrupted, errors.New("conformance: interrupted before any script ran")}
	}
	return nil, fmt.Errorf("conformance: %w", err)
}

// exitInterrupted is the shell's exit code for a process that SIGINT terminated.
const exitInterrupted = 130

// writeResults writes the table and the report files.
func writeResults(report *applytest.Report, f conformanceFlags, stdout io.Writer) error {
	if err := report.WriteTable(stdout); err != nil {
		return err
	}
	if report.Count(applytest.Fail) > 0 && !f.keep {
		fmt.Fprintln(stdout, "\nTo repeat a request, run its script with --keep, and add your credentials to the command.")
	}
	return f.writeReports(report)
}

// verdict returns an error if a script failed or an object could not be removed.
func verdict(report *applytest.Report) error {
	if n := report.Count(applytest.Fail); n > 0 {
		return fmt.Errorf("conformance: %d of %d scripts failed", n, len(report.Results))
	}
	if n := len(report.Leftovers); n > 0 {
		return fmt.Errorf("conformance: %d objects could not be removed: see LEFT above", n)
	}
	return nil
}

// reportWriter returns the writer for the extension of a report file, or nil if the extension is unknown.
func reportWriter(name string) func(*applytest.Report, io.Writer) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".xml":
		return (*applytest.Report).WriteJUnit
	case ".json":
		return (*applytest.Report).WriteJSON
	}
	return nil
}

func (f conformanceFlags) writeReports(report *applytest.Report) error {
	for _, name := range f.reports {
		if err := writeReport(report, name); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	return nil
}

// writeStoppedReports writes the reason why no script ran to the report files, which would otherwise keep the results
// of an earlier run.
func (f conformanceFlags) writeStoppedReports(why error) error {
	stopped := &applytest.Report{Stopped: why.Error()}
	if exit := (*exitError)(nil); errors.As(why, &exit) {
		stopped.Stopped = exit.err.Error()
	}
	if err := f.writeReports(stopped); err != nil {
		return errors.Join(why, err)
	}
	return why
}

func writeReport(report *applytest.Report, name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(reportWriter(name)(report, file), file.Close())
}

func listScripts(w io.Writer, options applytest.Options) error {
	scripts, err := applytest.Scripts(options.Scripts, options.Run)
	if err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	for _, script := range scripts {
		if _, err := fmt.Fprintf(w, "%s: %s\n", script.Name, script.Title()); err != nil {
			return err
		}
	}
	return nil
}
