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

// A Sample is what a real server answers: the floor moves the same bytes.
type Sample struct {
	Object, List []byte
	// Managed are answers that depend on what the client wishes.
	Managed []ManagedSample
}

// A ManagedSample is what a real server answers about objects that have several managers.
type ManagedSample struct {
	Managed
	Wish
	Object, List []byte
}

// TakeSample reads it from a server on which get and list are prepared.
func TakeSample(ctx context.Context, s *Server) (sample Sample, err error) {
	c := s.NewClient()
	defer c.Close()
	for _, part := range []struct {
		request Request
		to      *[]byte
	}{{listedPlace(0).get(), &sample.Object}, {listedPlace(0).list(), &sample.List}} {
		answer, err := c.Do(ctx, part.request)
		if err != nil {
			return Sample{}, err
		}
		*part.to = []byte(string(answer))
	}
	return sample, nil
}

// MadeSample is for when there is no real server: what is applied is what is answered.
func MadeSample() Sample {
	var items []string
	for i := range listed {
		items = append(items, string(listedPlace(i).body(0)))
	}
	list := `{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[` + strings.Join(items, ",") + "]}\n"
	return Sample{Object: append(listedPlace(0).body(0), '\n'), List: []byte(list)}
}

// floorVariable tells this program that it is to be the floor. A variable, unlike an argument, works for the
// binary of a test as well.
const floorVariable = "CADASTRE_SERVERBENCH_FLOOR"

// Floor is the least Go HTTPS server that moves the bytes of a sample. It is this program once more.
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

// floorAddress is what the floor answers when it serves.
type floorAddress struct {
	URL       string
	Authority []byte // PEM
}

// ServeIfFloor returns if this process is not the floor; otherwise it serves until its input ends, and exits.
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
