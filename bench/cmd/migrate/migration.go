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

	"github.com/cadastre/cadastre/bench/serverbench"
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

// command is "cadastre migrate" for all of the objects.
func (m *migration) command(ctx context.Context, args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	args = append([]string{"migrate", "deployments", "-A", "--yes", "--kubeconfig", filepath.Join(m.folder, "kubeconfig")}, args...)
	cmd = exec.CommandContext(ctx, m.program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// migrate runs the command. Its last line tells how many objects became what.
func (m *migration) migrate(ctx context.Context, step string, args ...string) error {
	cmd, out := m.command(ctx, args...)
	begin := time.Now()
	err := cmd.Run()
	m.row(step, time.Since(begin), lastLine(out.String()))
	return err
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

// whole migrates all, and again.
func (m *migration) whole(ctx context.Context) error {
	if err := m.migrate(ctx, "migrated", "--to", "kubectl"); err != nil {
		return err
	}
	between, err := look(ctx, m.server)
	if err != nil {
		return err
	}
	if err := m.migrate(ctx, "again", "--to", "kubectl"); err != nil {
		return err
	}
	after, err := look(ctx, m.server)
	if err != nil {
		return err
	}
	if after.revision != between.revision {
		return fmt.Errorf("the second run has written: expected revision %s, received %s", between.revision, after.revision)
	}
	return after.same(m.before, "kubectl", m.objects)
}

// interrupted migrates to somebody else, with the client killed when a third is done, and then the server
// after another.
func (m *migration) interrupted(ctx context.Context) error {
	from := []string{"--from", "kubectl", "--to", "gitops"}
	cmd, _ := m.command(ctx, from...)
	begin := time.Now()
	if err := m.killWhile(ctx, cmd, func() error { return cmd.Process.Kill() }); err != nil {
		return err
	}
	event("client killed after a third", time.Since(begin), "")
	cmd, out := m.command(ctx, from...)
	begin = time.Now()
	if err := m.killWhile(ctx, cmd, m.server.Kill); err != nil {
		return err
	}
	event("server killed after a third", time.Since(begin), lastLine(out.String()))
	begin = time.Now()
	if err := m.start(ctx); err != nil {
		return err
	}
	event("server started again", time.Since(begin), "")
	for _, step := range []string{"the rest", "again"} {
		if err := m.migrate(ctx, step, from...); err != nil {
			return err
		}
	}
	return nil
}

// killWhile starts a command, kills something when it has written a third of the objects, and waits for its end,
// which is not a good one.
func (m *migration) killWhile(ctx context.Context, cmd *exec.Cmd, kill func() error) error {
	begin, err := revision(ctx, m.server)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var end error
	ended := make(chan struct{})
	go func() {
		end = cmd.Wait()
		close(ended)
	}()
	if err := m.reach(ctx, begin+int64(m.objects)/3, ended); err != nil { // every write is a revision
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		return errors.Join(err, end)
	}
	err = kill()
	<-ended
	if end == nil {
		return errors.New("it was done before something was killed: take more -objects")
	}
	return err
}

// lookEvery is how long to wait between looks at the store: long enough to leave the server to those who write.
const lookEvery = time.Millisecond

// reach waits until the store has come to a revision, which it never does if who writes has ended.
func (m *migration) reach(ctx context.Context, expected int64, ended <-chan struct{}) error {
	for {
		now, err := revision(ctx, m.server)
		if err != nil || now >= expected {
			return err
		}
		select {
		case <-ended:
			return fmt.Errorf("the command ended at revision %d, expected it to come to %d", now, expected)
		case <-time.After(lookEvery):
		}
	}
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
