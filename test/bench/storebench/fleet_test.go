package storebench

import (
	"encoding/json"
	"testing"
)

// TestObjects are as long as they should be, JSON, and two fifths of them managedFields.
func TestObjects(t *testing.T) {
	for _, size := range []int{500, ValueSize} {
		source := newObjectSource(1, size)
		first, second := source.next("team-0001", "web-7c9d6f4b5-0000001", "app-1"), source.next("team-0001", "web-7c9d6f4b5-0000001", "app-1")
		if len(first) != size || string(first) == string(second) {
			t.Errorf("%d and %d bytes, want %d, and that they differ", len(first), len(second), size)
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
			t.Errorf("metadata %+v", pod.Metadata)
		}
		if share := float64(len(pod.Metadata.ManagedFields)) / float64(size); share < 0.36 || share > 0.46 {
			t.Errorf("%.2f of %d bytes are managedFields, want about 0.4", share, size)
		}
	}
}

// TestShuffled has every object once.
func TestShuffled(t *testing.T) {
	f := Fleet{Objects: 7*objectsPerNamespace + 3}
	seen := map[int]bool{}
	for i := range f.Objects {
		seen[f.shuffled(i)] = true
	}
	if len(seen) != f.Objects || seen[f.Objects] || f.shuffled(objectsPerNamespace) == objectsPerNamespace {
		t.Errorf("%d objects, want %d, and not in order", len(seen), f.Objects)
	}
}

// TestFleet does with a small fleet all that is done with large ones.
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
		t.Errorf("%+v, want all figures", opening)
	}
	listing, err := f.List(t.Context(), folder, 3)
	if err != nil {
		t.Fatal(err)
	}
	if listing.Objects != f.Objects || listing.Whole <= opening.Bytes || listing.Short*10 > listing.Whole*7 || len(listing.Rounds) != 3 {
		t.Errorf("%+v, want all objects, their revisions, and less without managedFields", listing)
	}
	for _, r := range listing.Rounds {
		if r.Whole <= r.Take || r.Short <= 0 || r.WholeFraction() <= 0 || r.ShortFraction() <= 0 {
			t.Errorf("%+v, want all figures", r)
		}
	}
}

// near says that it is about so much: objects are not all equally long.
func near(got, want int64) bool { return got > want*95/100 && got < want*105/100 }

func TestPeerFleet(t *testing.T) {
	f := Fleet{Objects: 700, Size: ValueSize}
	folder := t.TempDir()
	if err := f.FillEtcd(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	peer, err := f.UseEtcd(t.Context(), folder)
	if err != nil || peer.Start == 0 || peer.List == 0 || !near(peer.Bytes, 700*ValueSize) {
		t.Errorf("%+v, %v, want all figures", peer, err)
	}
}

// TestLabelled has watchers of labels that nothing has: they are told nothing.
func TestLabelled(t *testing.T) {
	l := Load{Writers: 2, Watchers: 50, Labelled: true, Warmup: testTime, Window: testTime}
	r, err := Cached(t.Context(), t.TempDir(), l)
	if err != nil || r.Commits == 0 || r.Events != 0 || r.CutOff != 0 {
		t.Errorf("%+v, %v, want commits and no events", r, err)
	}
}
