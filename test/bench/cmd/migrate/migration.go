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

// migration is many objects on a server, on their way.
type migration struct {
	program, folder string
	objects         int
	server          *serverbench.Server
	// before is how the objects were at first.
	before sight
}

// start starts the server; if it fails, the one that was there before is kept, which can be stopped.
func (m *migration) start(ctx context.Context) error {
	started, err := serverbench.Ours(m.program).Start(ctx, m.folder)
	if err == nil {
		m.server = started
	}
	return err
}

// row tells of a step that was about all objects.
func (m *migration) row(step string, took time.Duration, outcome string) {
	fmt.Printf(rowFormat, step, took.Round(time.Millisecond), fmt.Sprintf("%.0f", float64(m.objects)/took.Seconds()), outcome)
}

// event tells of something else.
func event(what string, took time.Duration, outcome string) {
	fmt.Printf(rowFormat, what, took.Round(time.Millisecond), "", outcome)
}

// kubeconfig is the administrator's.
func (m *migration) kubeconfig() string { return filepath.Join(m.folder, "kubeconfig") }

// command is "cadastre migrate" for all of the objects.
func (m *migration) command(ctx context.Context, kubeconfig string, args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	args = append([]string{"migrate", "deployments", "-A", "--yes", "--kubeconfig", kubeconfig}, args...)
	cmd = exec.CommandContext(ctx, m.program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// migrate runs the command, and returns the last line of what it says, which tells how many objects became what.
func (m *migration) migrate(ctx context.Context, step string, args ...string) (said string, err error) {
	cmd, out := m.command(ctx, m.kubeconfig(), args...)
	begin := time.Now()
	err = cmd.Run()
	said = lastLine(out.String())
	m.row(step, time.Since(begin), said)
	return said, err
}

// again runs the command when all is done: it must find nothing to do, and write nothing.
func (m *migration) again(ctx context.Context, args ...string) error {
	before, err := revision(ctx, m.server)
	if err != nil {
		return err
	}
	said, err := m.migrate(ctx, "again", args...)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("%d unchanged", m.objects); said != want {
		return fmt.Errorf("again: expected %q, received %q", want, said)
	}
	after, err := revision(ctx, m.server)
	if err == nil && after != before {
		err = fmt.Errorf("again: it has written: the store was at revision %d, and is at %d", before, after)
	}
	return err
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

// whole migrates all, and again.
func (m *migration) whole(ctx context.Context) error {
	to := []string{"--to", "kubectl"}
	if _, err := m.migrate(ctx, "migrated", to...); err != nil {
		return err
	}
	if err := m.again(ctx, to...); err != nil {
		return err
	}
	after, err := look(ctx, m.server)
	if err != nil {
		return err
	}
	return after.same(m.before, "kubectl", m.objects)
}

// interrupted migrates to somebody else, with the client killed when a third is done, and then the server
// after another.
func (m *migration) interrupted(ctx context.Context) error {
	from := []string{"--from", "kubectl", "--to", "gitops"}
	begin := time.Now()
	if _, err := m.killWhile(ctx, from, func(cmd *exec.Cmd) error { return cmd.Process.Kill() }); err != nil {
		return err
	}
	event("client killed after a third", time.Since(begin), "")
	begin = time.Now()
	said, err := m.killWhile(ctx, from, func(*exec.Cmd) error { return m.server.Kill() })
	if err != nil {
		return err
	}
	event("server killed after a third", time.Since(begin), said)
	begin = time.Now()
	if err := m.start(ctx); err != nil {
		return err
	}
	event("server started again", time.Since(begin), "")
	if _, err := m.migrate(ctx, "the rest", from...); err != nil {
		return err
	}
	return m.again(ctx, from...)
}

// killWhile starts the command, kills something when a third of the objects is written, and waits for its end, which is
// not a good one.
func (m *migration) killWhile(ctx context.Context, args []string, kill func(*exec.Cmd) error) (said string, err error) {
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
		err = fmt.Errorf("the command ended before a third was written: %s", lastLine(out.String()))
	}
	g.release()
	<-ended
	if err == nil && end == nil {
		err = errors.New("the command ended well, though something was killed")
	}
	return lastLine(out.String()), err
}

// check looks for what is lost.
func (m *migration) check(ctx context.Context) error {
	now, err := look(ctx, m.server)
	if err != nil {
		return err
	}
	if err := now.same(m.before, "gitops", m.objects); err != nil {
		return err
	}
	fmt.Printf("\nall %d objects have the values that they had, and one owner\n", m.objects)
	return nil
}
