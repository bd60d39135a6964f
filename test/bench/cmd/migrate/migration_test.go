package main

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// program is our server and command line, built once.
func program(t *testing.T) string {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var folder string

var build = sync.OnceValues(func() (string, error) { return serverbench.BuildOurs(context.Background(), folder) })

func TestMain(m *testing.M) {
	err := serverbench.InFolder("", func(made string) error {
		folder = made
		if code := m.Run(); code != 0 {
			return fmt.Errorf("tests failed with %d", code)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// TestMigrationOfFew does all of it, killing included: what is killed is so with a third done, however long that takes.
func TestMigrationOfFew(t *testing.T) {
	if err := run(context.Background(), t.TempDir(), program(t), fewest); err != nil {
		t.Fatal(err)
	}
}

// TestEndBeforeAnythingIsKilled: a command that ends by itself is not waited for, a second run that has something to do
// is told, and a server that does not start again leaves one to stop.
func TestEndBeforeAnythingIsKilled(t *testing.T) {
	m := &migration{program: program(t), folder: t.TempDir(), objects: 6}
	if err := m.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := m.killWhile(t.Context(), []string{"--to", "x"}, func(*exec.Cmd) error { t.Error("something was killed"); return nil })
	if err == nil || !strings.Contains(err.Error(), "the command ended before a third was written: found no objects") {
		t.Errorf("received %v, expected that the command ended", err)
	}
	if err := (serverbench.Fleet{Objects: m.objects}).FillAs(t.Context(), m.server, formerManager); err != nil {
		t.Fatal(err)
	}
	if err := m.again(t.Context(), "--to", "x"); err == nil || err.Error() != `again: expected "6 unchanged", received "6 migrated"` {
		t.Errorf("received %v, expected that it had something to do", err)
	}
	if err := m.again(t.Context(), "--to", "x"); err != nil {
		t.Error(err)
	}
	m.program = "false"
	if err := m.start(t.Context()); err == nil {
		t.Error("expected an error of a program that is no server")
	}
	if err := m.server.Stop(); err != nil {
		t.Error(err)
	}
}
