package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

const rowFormat = "%-34s %9s %9s  %s\n"

// migration is the state of the command: a running server with many objects that are migrated.
type migration struct {
	program, folder string
	objects         int
	server          *serverbench.Server
	// before is the snapshot of the objects before the first migration.
	before snapshot
}

// start starts the server. On error, m.server remains the previous server, so that it can be stopped.
func (m *migration) start(ctx context.Context) error {
	started, err := serverbench.Cadastre(m.program).Start(ctx, m.folder)
	if err == nil {
		m.server = started
	}
	return err
}

// row prints the duration, rate and outcome of a step that processed all objects.
func (m *migration) row(step string, took time.Duration, outcome string) {
	fmt.Printf(rowFormat, step, took.Round(time.Millisecond), fmt.Sprintf("%.0f", float64(m.objects)/took.Seconds()), outcome)
}

// event prints the duration and outcome of a step that has no rate, such as killing a process.
func event(what string, took time.Duration, outcome string) {
	fmt.Printf(rowFormat, what, took.Round(time.Millisecond), "", outcome)
}

// kubeconfig returns the path of the administrator's kubeconfig, which the server writes.
func (m *migration) kubeconfig() string { return filepath.Join(m.folder, "kubeconfig") }

// command returns the command "cadastre migrate" for all Deployments, and the buffer that receives its stdout and
// stderr.
func (m *migration) command(ctx context.Context, kubeconfig string, args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	args = append([]string{"migrate", "deployments", "-A", "--yes", "--kubeconfig", kubeconfig}, args...)
	cmd = exec.CommandContext(ctx, m.program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// migrate runs "cadastre migrate", prints a row, and returns the last line of the output, which counts the outcomes.
func (m *migration) migrate(ctx context.Context, step string, args ...string) (summary string, err error) {
	cmd, out := m.command(ctx, m.kubeconfig(), args...)
	begin := time.Now()
	err = cmd.Run()
	summary = lastLine(out.String())
	m.row(step, time.Since(begin), summary)
	return summary, err
}

// rerun runs "cadastre migrate" after a complete migration. It returns an error if the command finds an object to
// migrate or writes anything.
func (m *migration) rerun(ctx context.Context, args ...string) error {
	before, err := revision(ctx, m.server)
	if err != nil {
		return err
	}
	summary, err := m.migrate(ctx, "again", args...)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("%d unchanged", m.objects); summary != want {
		return fmt.Errorf("second run: expected %q, received %q", want, summary)
	}
	after, err := revision(ctx, m.server)
	if err == nil && after != before {
		err = fmt.Errorf("second run: expected no write, but the revision of the store changed from %d to %d", before, after)
	}
	return err
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

// migrateAll migrates all objects to the field manager kubectl, runs the migration a second time, and checks the objects.
func (m *migration) migrateAll(ctx context.Context) error {
	to := []string{"--to", "kubectl"}
	if _, err := m.migrate(ctx, "migrated", to...); err != nil {
		return err
	}
	if err := m.rerun(ctx, to...); err != nil {
		return err
	}
	after, err := takeSnapshot(ctx, m.server)
	if err != nil {
		return err
	}
	return after.checkMigrated(m.before, "kubectl", m.objects)
}

// migrateInterrupted migrates all objects to the field manager gitops. The client is killed after a third of the objects, the
// server after another third, and a last run migrates the remaining objects.
func (m *migration) migrateInterrupted(ctx context.Context) error {
	from := []string{"--from", "kubectl", "--to", "gitops"}
	begin := time.Now()
	if _, err := m.killWhile(ctx, from, func(cmd *exec.Cmd) error { return cmd.Process.Kill() }); err != nil {
		return err
	}
	event("client killed after a third", time.Since(begin), "")
	begin = time.Now()
	summary, err := m.killWhile(ctx, from, func(*exec.Cmd) error { return m.server.Kill() })
	if err != nil {
		return err
	}
	event("server killed after a third", time.Since(begin), summary)
	begin = time.Now()
	if err := m.start(ctx); err != nil {
		return err
	}
	event("server started again", time.Since(begin), "")
	if _, err := m.migrate(ctx, "the rest", from...); err != nil {
		return err
	}
	return m.rerun(ctx, from...)
}

// killWhile starts "cadastre migrate", calls kill when a third of the objects has been written, and waits for the
// command to exit. It returns the last line of its output. It returns an error if the command exits before the call of
// kill, or succeeds after it.
func (m *migration) killWhile(ctx context.Context, args []string, kill func(*exec.Cmd) error) (summary string, err error) {
	g, err := newGate(m.kubeconfig(), m.folder, max(m.objects/3, 1))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	cmd, out := m.command(ctx, g.kubeconfig, args...)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var end error
	ended := make(chan struct{})
	go func() {
		end = cmd.Wait()
		close(ended)
	}()
	select {
	case <-g.reached:
		err = kill(cmd)
	case <-ended:
		err = fmt.Errorf("the command ended before a third of the objects was written: %s", lastLine(out.String()))
	}
	g.release()
	<-ended
	if err == nil && end == nil {
		err = errors.New("the command succeeded although a process was killed")
	}
	return lastLine(out.String()), err
}

// check returns an error unless all objects have the field manager gitops and the values that they had before the migration.
func (m *migration) check(ctx context.Context) error {
	now, err := takeSnapshot(ctx, m.server)
	if err != nil {
		return err
	}
	if err := now.checkMigrated(m.before, "gitops", m.objects); err != nil {
		return err
	}
	fmt.Printf("\nall %d objects have unchanged values and one field manager\n", m.objects)
	return nil
}
