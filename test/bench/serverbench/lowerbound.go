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

// Sample contains responses of an API server, which the lower bound returns.
type Sample struct {
	Object, List []byte
	// ManagedObjects contains the responses that depend on a Format.
	ManagedObjects []ManagedSample
}

// ManagedSample contains the responses for objects with several field managers, in one format.
type ManagedSample struct {
	ManagedObjects
	Format
	Object, List []byte
}

// TakeSample reads a sample from a server on which the cases get and list are prepared.
func TakeSample(ctx context.Context, s *Server) (sample Sample, err error) {
	c := s.NewClient()
	defer c.Close()
	for _, part := range []struct {
		request Request
		to      *[]byte
	}{{listedKey(0).get(), &sample.Object}, {listedKey(0).list(), &sample.List}} {
		body, err := c.Do(ctx, part.request)
		if err != nil {
			return Sample{}, err
		}
		*part.to = []byte(string(body))
	}
	return sample, nil
}

// SyntheticSample returns a sample without an API server: its responses are the applied objects.
func SyntheticSample() Sample {
	var items []string
	for i := range listed {
		items = append(items, string(listedKey(i).body(0)))
	}
	list := `{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[` + strings.Join(items, ",") + "]}\n"
	return Sample{Object: append(listedKey(0).body(0), '\n'), List: []byte(list)}
}

// lowerBoundVariable is the environment variable that makes this binary serve as the lower bound. Unlike an argument,
// it works for test binaries too.
const lowerBoundVariable = "CADASTRE_SERVERBENCH_FLOOR"

// LowerBound returns the lower bound: a minimal Go HTTPS server that returns the bytes of a sample. It runs as a child
// process of this binary.
func LowerBound(sample Sample) Implementation {
	return Implementation{"lower-bound", func(ctx context.Context, _ string) (*Server, error) {
		start := time.Now()
		binary, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, binary)
		cmd.Env = append(os.Environ(), lowerBoundVariable+"=1")
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
		var address lowerBoundAddress
		err = json.NewEncoder(in).Encode(sample)
		if err == nil {
			err = json.NewDecoder(out).Decode(&address)
		}
		if err == nil {
			s.tls, err = trustingConfig(address.Authority)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lower-bound server did not start: %w", err), s.stop())
		}
		s.URL, s.Ready = address.URL, time.Since(start)
		return s, nil
	}}
}

// lowerBoundAddress is the JSON that the lower bound prints when it is ready.
type lowerBoundAddress struct {
	URL       string
	Authority []byte // CA bundle in PEM
}

// ServeIfLowerBound serves until stdin is closed, and then exits, if this process was started as the lower bound. In
// any other process it does nothing.
func ServeIfLowerBound() {
	if os.Getenv(lowerBoundVariable) == "" {
		return
	}
	if err := serveLowerBound(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveLowerBound(in io.Reader, out io.Writer) error {
	input := json.NewDecoder(in)
	var sample Sample
	if err := input.Decode(&sample); err != nil {
		return err
	}
	address, err := newLowerBound(sample).listen()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(address); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
