package script

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// patience is how long a script waits for what should come soon.
const patience = 20 * time.Second

// eventuallyCommand repeats a program until it succeeds: some things that one client did show only a moment
// later, such as new roles.
func eventuallyCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) == 0 {
		ts.Fatalf("usage: eventually PROGRAM ARGS...")
	}
	var err error
	if !testwait.Within(patience, func() bool { err = ts.Exec(args[0], args[1:]...); return err == nil }) {
		ts.Fatalf("it never succeeded: %v", err)
	}
}
