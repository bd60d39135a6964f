package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/bench/serverbench"
)

// TestMigrationOfFew does all of it, killing included.
func TestMigrationOfFew(t *testing.T) {
	program, err := serverbench.BuildOurs(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), t.TempDir(), program, 600); err != nil {
		t.Fatal(err)
	}
}

// TestEndBeforeAnythingIsKilled: a command that ends by itself is not waited for, and a server that does not start
// again leaves one to stop.
func TestEndBeforeAnythingIsKilled(t *testing.T) {
	program, err := serverbench.BuildOurs(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m := &migration{program: program, folder: t.TempDir(), objects: 30}
	if err := m.start(ctx); err != nil {
		t.Fatal(err)
	}
	err = m.killWhile(ctx, exec.Command("false"), func() error { t.Error("something was killed"); return nil })
	if err == nil || !strings.Contains(err.Error(), "the command ended at revision") {
		t.Errorf("received %v, expected that the command ended", err)
	}
	m.program = "false"
	if err := m.start(ctx); err == nil {
		t.Error("expected an error of a program that is no server")
	}
	if err := m.server.Stop(); err != nil {
		t.Error(err)
	}
}
