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
		Short: "Compare the apply behaviour of an API server with kube-apiserver",
		Long: `Run behaviour scripts against a Kubernetes API server and report responses that differ from those of kube-apiserver.

Each script runs in a new namespace, which is deleted afterwards. Without the permission to create namespaces, use
--namespace: the scripts then run sequentially in that namespace and delete the objects that they create. Scripts that
write to other namespaces or to cluster-scoped resources, or that use a kind of which the namespace has objects
already, are skipped.

A failure is reported with the expected and received values, and with a curl command for the request. A table of passed,
failed and skipped scripts per area follows.

An interrupted run deletes the objects that it has created and reports the scripts that completed; a second interrupt
terminates at once. The exit code is 0 if no script failed, 1 if a script failed or an object could not be removed, and
130 after an interrupt.`,
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
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "The kubeconfig `file`. The default is $KUBECONFIG or ~/.kube/config.")
	flags.StringVar(&f.context, "context", "", "The `name` of the kubeconfig context.")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "Run all scripts sequentially in the namespace with this `name`, instead of one namespace per script.")
	flags.StringVar(&f.run, "run", "", "Run only scripts whose name, such as removal/last-owner, matches this regular `expression`.")
	flags.StringArrayVar(&f.reports, "report", nil, "Write the results to this `file`, as JUnit (.xml) or JSON (.json). Can be repeated.")
	flags.StringVar(&f.scripts, "scripts", "", "Run the scripts in this `folder` instead of the built-in scripts.")
	flags.StringVar(&f.record, "record", "", "Update the scripts in this `folder` with the responses of the server, where they differ or are not recorded yet.")
	flags.IntVar(&f.parallel, "parallel", 8, "The `number` of scripts that run in parallel.")
	flags.BoolVar(&f.keep, "keep", false, "Keep the objects that the scripts create, and print the namespace of each script.")
	flags.BoolVar(&f.list, "list", false, "List the scripts and exit.")
	_ = flags.MarkHidden("record") // for authors of scripts; the error is impossible, because the flag exists
	return command
}

// options returns the options of the run, or an error if a flag is invalid. It sends no request.
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

// checkReports returns an error if a report file cannot be written. It detects the error before the run, which may take
// minutes.
func (f conformanceFlags) checkReports() error {
	if f.list && len(f.reports) > 0 {
		return errors.New("--list: expected no --report, because no script runs")
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

// checkWritable returns an error if the named file cannot be written. It does not change the content of an existing file,
// and leaves no new file behind.
func checkWritable(name string) error {
	_, statErr := os.Lstat(name) // Lstat, because a dangling symbolic link counts as existing
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

// folderFlag returns the name of the flag that set the folder of scripts, for error messages.
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
		interrupted := fmt.Errorf("conformance: interrupted: %d of %d scripts completed", len(report.Results), report.Scripts)
		return &exitError{exitInterrupted, errors.Join(interrupted, written)}
	case err != nil:
		return errors.Join(fmt.Errorf("conformance: %w", err), written)
	case written != nil:
		return written
	}
	return verdict(report)
}

// runScripts runs the scripts and prints their progress. The report is nil if no script could run.
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

// writeResults writes the table of results to stdout, and the reports to the files of --report.
func writeResults(report *applytest.Report, f conformanceFlags, stdout io.Writer) error {
	if err := report.WriteTable(stdout); err != nil {
		return err
	}
	if report.Count(applytest.Fail) > 0 && !f.keep {
		fmt.Fprintln(stdout, "\nTo repeat a request, run the script with --keep and add your credentials to the curl command.")
	}
	return f.writeReports(report)
}

// verdict returns an error if a script failed or an object could not be removed.
func verdict(report *applytest.Report) error {
	if n := report.Count(applytest.Fail); n > 0 {
		return fmt.Errorf("conformance: %d of %d scripts failed", n, len(report.Results))
	}
	if n := len(report.Leftovers); n > 0 {
		return fmt.Errorf("conformance: %d objects could not be removed; see LEFT above", n)
	}
	return nil
}

// reportWriter returns the function that writes a report in the format for the extension of the file name; nil if the
// extension is unknown.
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

// writeStoppedReports replaces the report files, which may contain the results of an earlier run, with reports that state
// reason, the error because of which no script ran. It returns reason, joined with errors of writing.
func (f conformanceFlags) writeStoppedReports(reason error) error {
	stopped := &applytest.Report{Stopped: reason.Error()}
	if exit := (*exitError)(nil); errors.As(reason, &exit) {
		stopped.Stopped = exit.err.Error()
	}
	if err := f.writeReports(stopped); err != nil {
		return errors.Join(reason, err)
	}
	return reason
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
