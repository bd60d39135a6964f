package apiserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkEmbedding measures the cost of embedding a server. It reports the size of the programs in testdata/embed, built
// with and without symbols, and, for the program with a server, the time from apiserver.New to the first response in a new
// process.
func BenchmarkEmbedding(b *testing.B) {
	folder := b.TempDir()
	for _, program := range []string{"hello", "client", "server"} {
		b.Run(program, func(b *testing.B) {
			file := filepath.Join(folder, program)
			plain := buildProgram(b, file, program)
			stripped := buildProgram(b, file, program, "-tags", "grpcnotrace", "-ldflags", "-s -w")
			var times []time.Duration
			for b.Loop() {
				if program == "server" {
					times = append(times, runServerProgram(b, file))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(plain)/1e6, "plain-MB")
			b.ReportMetric(float64(stripped)/1e6, "stripped-MB")
			if len(times) > 0 {
				slices.Sort(times)
				b.ReportMetric(float64(times[0].Microseconds())/1e3, "shortest-ms")
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "median-ms")
			}
		})
	}
}

// buildProgram builds a program in testdata/embed with go build and returns the size of the binary in bytes.
func buildProgram(b *testing.B, file, program string, flags ...string) int64 {
	b.Helper()
	source := filepath.Join("testdata", "embed", program+".go")
	out, err := exec.Command("go", append(append([]string{"build", "-o", file}, flags...), source)...).CombinedOutput()
	if err != nil {
		b.Fatalf("go build %s: %v\n%s", source, err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// runServerProgram runs the program testdata/embed/server.go and returns the duration that it prints, which is the time from
// apiserver.New to its first response.
func runServerProgram(b *testing.B, file string) time.Duration {
	b.Helper()
	out, err := exec.Command(file).Output()
	if err != nil {
		b.Fatal(err)
	}
	took, err := time.ParseDuration(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatalf("%s printed %q, want a duration", file, out)
	}
	return took
}
