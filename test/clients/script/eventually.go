package script

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// timeout is the maximum time for which the command eventually retries.
const timeout = 20 * time.Second

// eventuallyCommand implements the command eventually: it runs a program until it succeeds, for effects that are
// visible only after some time, such as those of new roles.
func eventuallyCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) == 0 {
		ts.Fatalf("usage: eventually PROGRAM ARGS...")
	}
	var err error
	if !testwait.Within(timeout, func() bool { err = ts.Exec(args[0], args[1:]...); return err == nil }) {
		ts.Fatalf("timed out after %v: %v", timeout, err)
	}
}
