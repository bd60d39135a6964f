package storebench

import (
	"encoding/json"
	"testing"
)

// TestObjects checks that generated pods are JSON of the requested size, and that two fifths of it are managedFields.
func TestObjects(t *testing.T) {
	for _, size := range []int{500, ValueSize} {
		source := newObjectSource(1, size)
		first, second := source.next("team-0001", "web-7c9d6f4b5-0000001", "app-1"), source.next("team-0001", "web-7c9d6f4b5-0000001", "app-1")
		if len(first) != size || string(first) == string(second) {
			t.Errorf("next() returned %d and %d bytes, want two different pods of %d", len(first), len(second), size)
		}
		var pod struct {
			Metadata struct {
				Name, Namespace string
				Labels          map[string]string
				ManagedFields   json.RawMessage
			}
		}
		if err := json.Unmarshal(first, &pod); err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if pod.Metadata.Name != "web-7c9d6f4b5-0000001" || pod.Metadata.Namespace != "team-0001" || pod.Metadata.Labels["app"] != "app-1" {
			t.Errorf("metadata = %+v, want the name, namespace and label that were passed to next", pod.Metadata)
		}
		if share := float64(len(pod.Metadata.ManagedFields)) / float64(size); share < 0.36 || share > 0.46 {
			t.Errorf("managedFields are %.2f of %d bytes, want about 0.4", share, size)
		}
	}
}

// TestShuffledNumber checks that every object is written exactly once.
func TestShuffledNumber(t *testing.T) {
	f := Fleet{Objects: 7*objectsPerNamespace + 3}
	seen := map[int]bool{}
	for i := range f.Objects {
		seen[f.shuffledNumber(i)] = true
	}
	if len(seen) != f.Objects || seen[f.Objects] || f.shuffledNumber(objectsPerNamespace) == objectsPerNamespace {
		t.Errorf("shuffledNumber() returned %d different objects, want %d", len(seen), f.Objects)
	}
}

// TestFleet runs all measurements of the store and the cache with a small fleet.
func TestFleet(t *testing.T) {
	f := Fleet{Objects: 2500, Size: ValueSize}
	folder := t.TempDir()
	if err := f.Fill(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	opening, err := f.Open(t.Context(), folder, true)
	if err != nil {
		t.Fatal(err)
	}
	if m := opening.Memory; !near(opening.Bytes, 2500*ValueSize) || opening.Time <= opening.Store || opening.Store == 0 || !opening.Paced ||
		m.Live <= opening.Bytes || m.Target < m.Live || m.Opened == 0 || m.OpenedPeak < m.Opened || m.Collected == 0 || m.WorkPeak == 0 {
		t.Errorf("Open() = %+v, want positive times and sizes", opening)
	}
	listing, err := f.List(t.Context(), folder, 3)
	if err != nil {
		t.Fatal(err)
	}
	if listing.Objects != f.Objects || listing.Whole <= opening.Bytes || listing.Short*10 > listing.Whole*7 || len(listing.Rounds) != 3 {
		t.Errorf("List() = %+v, want all objects with revisions, and fewer bytes without managedFields", listing)
	}
	for _, r := range listing.Rounds {
		if r.Whole <= r.Take || r.Short <= 0 || r.WholeFraction() <= 0 || r.ShortFraction() <= 0 {
			t.Errorf("round of List() = %+v, want positive times", r)
		}
	}
}

// near reports whether got is within 5% of want. The sizes of objects vary.
func near(got, want int64) bool { return got > want*95/100 && got < want*105/100 }

func TestEtcdFleet(t *testing.T) {
	f := Fleet{Objects: 700, Size: ValueSize}
	folder := t.TempDir()
	if err := f.FillEtcd(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	etcd, err := f.UseEtcd(t.Context(), folder)
	if err != nil || etcd.Start == 0 || etcd.List == 0 || !near(etcd.Bytes, 700*ValueSize) {
		t.Errorf("UseEtcd() = %+v, %v, want positive times and sizes", etcd, err)
	}
}

// TestLabelled checks that watchers whose label selectors match no object receive no events.
func TestLabelled(t *testing.T) {
	l := Load{Writers: 2, Watchers: 50, Labelled: true, Warmup: testDuration, Window: testDuration}
	r, err := WatchCache(t.Context(), t.TempDir(), l)
	if err != nil || r.Commits == 0 || r.Events != 0 || r.CutOff != 0 {
		t.Errorf("WatchCache() = %+v, %v, want commits and no events", r, err)
	}
}
