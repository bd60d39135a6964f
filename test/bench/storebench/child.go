package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// roleVariable is the environment variable with the role of a child process. Unlike an argument, it works for test
// binaries too.
const roleVariable = "CADASTRE_STOREBENCH_ROLE"

const (
	localRole   = "local"
	cacheRole   = "cache"
	fillRole    = "fill"
	openingRole = "opening"
	listingRole = "listing"
	etcdRole    = "etcd"
)

var roles = map[string]func(io.Reader, io.Writer) error{
	localRole:   runLocal,
	cacheRole:   runCache,
	fillRole:    runFill,
	openingRole: runOpening,
	listingRole: runListing,
	etcdRole:    serveEtcd,
}

// parameters are the parameters of a child process, which it reads from stdin.
type parameters struct {
	Folder string
	Load   Load
	Fleet  Fleet
	// Paced makes the watch cache tune the garbage collector.
	Paced  bool
	Rounds int // the number of lists that are measured
}

// ServeIfChild performs the role of this process and exits, if the process was started as a child process. In any other
// process it does nothing.
func ServeIfChild() {
	role := os.Getenv(roleVariable)
	if role == "" {
		return
	}
	if err := serve(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(role string) (err error) {
	run := roles[role]
	if run == nil {
		return fmt.Errorf("%s: unknown role %q", roleVariable, role)
	}
	end, err := startProfile(role)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return run(os.Stdin, os.Stdout)
}

// runChild starts a child process with the given role and the parameters o, and returns the result that the process
// writes to stdout.
func runChild[A any](ctx context.Context, role string, o parameters) (result A, err error) {
	c, err := startChild(ctx, role, o)
	if err != nil {
		return result, err
	}
	err = errors.Join(c.read(&result), c.stop())
	return result, err
}

// child is a child process of the same binary. Its parameters and results are JSON on stdin and stdout.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	results *json.Decoder
}

func startChild(ctx context.Context, role string, o parameters) (*child, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, in: in, results: json.NewDecoder(out)}
	if err := json.NewEncoder(in).Encode(o); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) read(result any) error {
	if err := c.results.Decode(result); err != nil {
		return fmt.Errorf("reading the result of the child process: %w", err)
	}
	return nil
}

// stop closes the child's stdin, which makes it exit, and waits for it.
func (c *child) stop() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }
