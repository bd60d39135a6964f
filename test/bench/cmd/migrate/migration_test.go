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

// program returns the path of the cadastre binary, which is built once for all tests.
func program(t *testing.T) string {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var folder string

var build = sync.OnceValues(func() (string, error) { return serverbench.BuildCadastre(context.Background(), folder) })

func TestMain(m *testing.M) {
	err := serverbench.InFolder("", func(made string) error {
		folder = made
		if code := m.Run(); code != 0 {
			return fmt.Errorf("tests failed with exit code %d", code)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// TestMigration runs all migrations, including the killed processes, with the minimum number of objects.
func TestMigration(t *testing.T) {
	if err := run(context.Background(), t.TempDir(), program(t), minObjects); err != nil {
		t.Fatal(err)
	}
}

// TestCommandEndsEarly checks that killWhile reports a command that exits before the kill, that rerun reports a run
// that still migrates objects, and that the previous server can be stopped after a failed start.
func TestCommandEndsEarly(t *testing.T) {
	m := &migration{program: program(t), folder: t.TempDir(), objects: 6}
	if err := m.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := m.killWhile(t.Context(), []string{"--to", "x"}, func(*exec.Cmd) error { t.Error("a process was killed"); return nil })
	if err == nil || !strings.Contains(err.Error(), "the command ended before a third of the objects was written: found no objects") {
		t.Errorf("killWhile() = %v, want \"the command ended before a third of the objects was written: found no objects…\"", err)
	}
	if err := (serverbench.Fleet{Objects: m.objects}).FillAs(t.Context(), m.server, formerManager); err != nil {
		t.Fatal(err)
	}
	if err := m.rerun(t.Context(), "--to", "x"); err == nil || err.Error() != `second run: expected "6 unchanged", received "6 migrated"` {
		t.Errorf("rerun() = %v, want an error about 6 migrated objects", err)
	}
	if err := m.rerun(t.Context(), "--to", "x"); err != nil {
		t.Error(err)
	}
	m.program = "false"
	if err := m.start(t.Context()); err == nil {
		t.Error("start() = nil for a program that is not a server, want an error")
	}
	if err := m.server.Stop(); err != nil {
		t.Error(err)
	}
}
