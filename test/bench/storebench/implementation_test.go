package storebench

import (
	"os"
	"testing"
	"time"
)

const testDuration = 200 * time.Millisecond

func TestMain(m *testing.M) {
	ServeIfChild()
	os.Exit(m.Run())
}

// TestImplementations runs a short load on each store, in a child process.
func TestImplementations(t *testing.T) {
	for name, implementation := range map[string]Implementation{"store": EmbeddedStore, "cache": WatchCache, "etcd": Etcd} {
		t.Run(name, func(t *testing.T) {
			l := Load{Writers: 2, Watchers: 1, Warmup: testDuration, Window: testDuration}
			r, err := implementation(t.Context(), t.TempDir(), l)
			if err != nil {
				t.Fatal(err)
			}
			if r.Load != l || r.Commits == 0 || r.Events == 0 || r.CPU == 0 || r.P50 == 0 || r.P99 < r.P50 {
				t.Errorf("result = %+v, want only positive figures", r)
			}
			if d := r.Delivered(); d < 0.2 || d > 5 {
				t.Errorf("Delivered() = %.2f, want about 1", d)
			}
			if r.Missing != 0 || r.CutOff != 0 {
				t.Errorf("Missing = %d, CutOff = %d, want 0", r.Missing, r.CutOff)
			}
		})
	}
}

// TestImplementationFails checks that the error of a child process with an invalid folder is returned.
func TestImplementationFails(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, implementation := range map[string]Implementation{"store": EmbeddedStore, "cache": WatchCache, "etcd": Etcd} {
		if _, err := implementation(t.Context(), file.Name(), Load{Writers: 1, Window: time.Second}); err == nil {
			t.Errorf("%s: got no error for a folder that is a file, want an error", name)
		}
	}
}

func TestMeasureDisk(t *testing.T) {
	folder := t.TempDir()
	disk, err := MeasureDisk(t.Context(), folder, 20*time.Millisecond, 1)
	if err != nil || disk.Append <= 0 || disk.Overwrite <= 0 {
		t.Errorf("MeasureDisk() = %+v, %v, want positive rates", disk, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("MeasureDisk() left the files %v, %v, want none", left, err)
	}
}
