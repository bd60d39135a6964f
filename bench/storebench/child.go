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

// roleVariable tells a process that it is a child, and which. A variable, unlike an argument, works for
// the binary of a test as well.
const roleVariable = "CADASTRE_STOREBENCH_ROLE"

const (
	localRole = "local"
	etcdRole  = "etcd"
)

// An order is the first thing that a child reads.
type order struct {
	Folder string
	Load   Load
}

// ServeIfChild returns if this process is no child; otherwise it does what a child does and exits.
func ServeIfChild() {
	var serve func(io.Reader, io.Writer) error
	switch role := os.Getenv(roleVariable); role {
	case "":
		return
	case localRole:
		serve = runLocal
	case etcdRole:
		serve = serveEtcd
	default:
		serve = func(io.Reader, io.Writer) error { return fmt.Errorf("%s: there is no role %q", roleVariable, role) }
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A child is this binary in another process. It reads an order and answers, all in JSON.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	answer *json.Decoder
}

func startChild(ctx context.Context, role string, o order) (*child, error) {
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
	c := &child{cmd: cmd, in: in, answer: json.NewDecoder(out)}
	if err := json.NewEncoder(in).Encode(o); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) read(answer any) error {
	if err := c.answer.Decode(answer); err != nil {
		return fmt.Errorf("the child gave no answer: %w", err)
	}
	return nil
}

// stop ends the child's input, at which it leaves, and waits.
func (c *child) stop() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }
