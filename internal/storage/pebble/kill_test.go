package pebble

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

var kills = flag.Int("kills", 20, "the number of times to kill a process that writes")

// writerDirVariable is the environment variable that makes the test binary write to a store until it is killed. Its value is
// the folder of the store.
const writerDirVariable = "CADASTRE_STORE_WRITER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(writerDirVariable); folder != "" {
		if err := runWriters(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runWriters runs eight concurrent writers on the store in folder. It prints a line for each acknowledged commit: writer,
// value, revision.
func runWriters(folder string) error {
	s, err := Open(Options{Folder: folder, HistoryAge: 300 * time.Millisecond})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			increment(s, w)
		}()
	}
	wg.Wait()
	return errors.New("all writers have failed")
}

// increment repeatedly increments the values of the two items of writer in one commit, until a commit fails.
func increment(s *Store, writer int) {
	ctx := context.Background()
	left, right := fmt.Sprintf("left/%d", writer), fmt.Sprintf("right/%d", writer)
	item, err := s.Get(ctx, left)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return
	}
	revision := item.Revision
	for n := number(item.Value) + 1; ; n++ {
		value := fmt.Appendf(nil, "%d %01000d", n, n)
		revision, err = s.Commit(ctx, storage.Write{Key: left, Expected: revision, Value: value}, storage.Write{Key: right, Expected: revision, Value: value})
		if err != nil {
			return
		}
		fmt.Println(writer, n, revision)
	}
}

// TestKill repeatedly kills a process that writes to a store. After each kill, all acknowledged commits must exist as a whole
// and at their revision, and the history must have no gap.
func TestKill(t *testing.T) {
	folder := t.TempDir()
	total := 0
	for round := range *kills {
		acked := killOne(t, folder, time.Duration(rand.IntN(150))*time.Millisecond)
		s := open(t, Options{Folder: folder, HistoryAge: -1})
		acked.check(t, s)
		checkResumes(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, n := range acked.counts {
			total += n
		}
		if t.Failed() {
			t.Fatalf("the checks failed after %d kills", round+1)
		}
	}
	if total == 0 {
		t.Error("0 commits were acknowledged, want at least 1")
	}
}

// killOne starts a process that writes to the store in folder, kills it after the duration life, and returns the commits that
// were acknowledged.
func killOne(t *testing.T, folder string, life time.Duration) ackedCommits {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerDirVariable+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the process printed %q, want \"ready\"", lines.Text())
	}
	killer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	acked := ackedCommits{map[int]int{}, map[int]storage.Revision{}}
	for lines.Scan() {
		var w, n int
		var revision storage.Revision
		if _, err := fmt.Sscan(lines.Text(), &w, &n, &revision); err != nil {
			continue // the last line may be incomplete
		}
		acked.counts[w], acked.revisions[w] = n, revision
	}
	_ = cmd.Wait()
	return acked
}

// checkResumes checks that a watch which starts after a random revision of the history returns all later commits without a
// gap.
func checkResumes(t *testing.T, s *Store) {
	t.Helper()
	now, compacted := storage.Revision(s.acked.Load()), storage.Revision(s.compacted.Load())
	if now == compacted {
		return
	}
	after := compacted + storage.Revision(rand.Int64N(int64(now-compacted)))
	w, err := s.Watch(t.Context(), "", after)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for last := after; last < now; {
		batch, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			if e.Revision != last && e.Revision != last+1 {
				t.Fatalf("the event at revision %d follows the event at revision %d, want consecutive revisions", e.Revision, last)
			}
			last = e.Revision
		}
	}
}
