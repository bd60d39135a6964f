package serverbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Sample has responses of an API server, which the floor returns.
type Sample struct {
	Object, List []byte
	// Managed has the responses that depend on a Format.
	Managed []ManagedSample
}

// ManagedSample has responses with objects of several field managers.
type ManagedSample struct {
	Managed
	Format
	Object, List []byte
}

// TakeSample reads a sample from a server on which get and list are prepared.
func TakeSample(ctx context.Context, s *Server) (sample Sample, err error) {
	c := s.NewClient()
	defer c.Close()
	for _, part := range []struct {
		request Request
		to      *[]byte
	}{{listedKey(0).get(), &sample.Object}, {listedKey(0).list(), &sample.List}} {
		answer, err := c.Do(ctx, part.request)
		if err != nil {
			return Sample{}, err
		}
		*part.to = []byte(string(answer))
	}
	return sample, nil
}

// MadeSample returns a sample without an API server: the applied objects are the responses.
func MadeSample() Sample {
	var items []string
	for i := range listed {
		items = append(items, string(listedKey(i).body(0)))
	}
	list := `{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[` + strings.Join(items, ",") + "]}\n"
	return Sample{Object: append(listedKey(0).body(0), '\n'), List: []byte(list)}
}

// floorVariable is the environment variable that makes this binary the floor. Unlike an argument it also works for
// test binaries.
const floorVariable = "CADASTRE_SERVERBENCH_FLOOR"

// Floor returns the side of a minimal Go HTTPS server that returns the bytes of a sample. It runs as a child process
// of this binary.
func Floor(sample Sample) Side {
	return Side{"floor", func(ctx context.Context, _ string) (*Server, error) {
		start := time.Now()
		binary, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, binary)
		cmd.Env = append(os.Environ(), floorVariable+"=1")
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
		s := newServer(cmd.Process.Pid, func() error { return errors.Join(in.Close(), cmd.Wait()) })
		var address floorAddress
		err = json.NewEncoder(in).Encode(sample)
		if err == nil {
			err = json.NewDecoder(out).Decode(&address)
		}
		if err == nil {
			s.tls, err = trusting(address.Authority)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the floor did not start: %w", err), s.stop())
		}
		s.URL, s.Ready = address.URL, time.Since(start)
		return s, nil
	}}
}

// floorAddress is the output of the floor when it is ready.
type floorAddress struct {
	URL       string
	Authority []byte // PEM
}

// ServeIfFloor returns if this process is not the floor; otherwise it serves until stdin is closed, and exits.
func ServeIfFloor() {
	if os.Getenv(floorVariable) == "" {
		return
	}
	if err := serveFloor(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveFloor(in io.Reader, out io.Writer) error {
	input := json.NewDecoder(in)
	var sample Sample
	if err := input.Decode(&sample); err != nil {
		return err
	}
	address, err := newFloor(sample).listen()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(address); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
