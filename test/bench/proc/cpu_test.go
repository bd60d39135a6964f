package proc

import (
	"os"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 150 25 13 14 20 0 1 0 100"
	for _, command := range []string{"(etcd)", "(a b)", "(a) b (c)"} {
		got, err := parseStat("42 " + command + rest)
		if want := 1750 * time.Millisecond; err != nil || got != want {
			t.Errorf("parseStat with command %s = %v, %v, want %v", command, got, err, want)
		}
	}
	for _, wrong := range []string{"", "42 (etcd", "42 (etcd) S 1 2", "42 (etcd) S 1 2 3 4 5 6 7 8 9 10 x y"} {
		if got, err := parseStat(wrong); err == nil {
			t.Errorf("parseStat(%q) = %v, want an error", wrong, got)
		}
	}
}

// TestCPU checks that the CPU time of this process increases while it works.
func TestCPU(t *testing.T) {
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		after, err := CPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after > before {
			return
		}
	}
	t.Error("CPU() is unchanged after work, want a greater CPU time")
}
