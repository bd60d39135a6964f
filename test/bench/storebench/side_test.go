package storebench

import (
	"os"
	"testing"
	"time"
)

const testTime = 200 * time.Millisecond

func TestMain(m *testing.M) {
	ServeIfChild()
	os.Exit(m.Run())
}

// TestSides runs each side for a moment, in its own process.
func TestSides(t *testing.T) {
	for name, side := range map[string]Side{"store": Ours, "cache": Cached, "etcd": Etcd} {
		t.Run(name, func(t *testing.T) {
			l := Load{Writers: 2, Watchers: 1, Warmup: testTime, Window: testTime}
			r, err := side(t.Context(), t.TempDir(), l)
			if err != nil {
				t.Fatal(err)
			}
			if r.Load != l || r.Commits == 0 || r.Events == 0 || r.CPU == 0 || r.P50 == 0 || r.P99 < r.P50 {
				t.Errorf("%+v, want all figures", r)
			}
			if d := r.Delivered(); d < 0.2 || d > 5 {
				t.Errorf("a watcher got %.2f events a commit, want about 1", d)
			}
			if r.Missing != 0 || r.CutOff != 0 {
				t.Errorf("%d events were never told, %d times cut off", r.Missing, r.CutOff)
			}
		})
	}
}

// TestSideFails gives each side a folder that cannot be one: the child says why, and the side fails.
func TestSideFails(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, side := range map[string]Side{"store": Ours, "cache": Cached, "etcd": Etcd} {
		if _, err := side(t.Context(), file.Name(), Load{Writers: 1, Window: time.Second}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMeasureDisk(t *testing.T) {
	folder := t.TempDir()
	disk, err := MeasureDisk(t.Context(), folder, 20*time.Millisecond, 1)
	if err != nil || disk.Append <= 0 || disk.Overwrite <= 0 {
		t.Errorf("%+v, %v, want rates", disk, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, %v", left, err)
	}
}
