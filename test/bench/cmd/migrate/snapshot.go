package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// snapshot summarizes the state of all Deployments at one revision.
type snapshot struct {
	// revision is the resourceVersion of the list.
	revision string
	// values is a hash of all objects without managedFields and resourceVersion.
	values [sha256.Size]byte
	// owners maps the field managers of an object, with their operations, to the number of objects that have them.
	owners map[string]int
}

// page is the decoded response to a list request with a limit.
type page struct {
	Metadata struct{ ResourceVersion, Continue string }
	Items    []map[string]any
}

// takeSnapshot lists all Deployments, page by page, and summarizes them.
func takeSnapshot(ctx context.Context, s *serverbench.Server) (snapshot, error) {
	c := s.NewClient()
	defer c.Close()
	snap := snapshot{owners: map[string]int{}}
	hash := sha256.New()
	for next := ""; ; {
		body, err := c.Do(ctx, serverbench.Request{Method: "GET", Path: "/apis/apps/v1/deployments?limit=1000&continue=" + url.QueryEscape(next)})
		if err != nil {
			return snap, err
		}
		var p page
		if err := json.Unmarshal(body, &p); err != nil {
			return snap, err
		}
		for _, item := range p.Items {
			text, err := snap.add(item)
			if err != nil {
				return snap, err
			}
			hash.Write(text)
		}
		if next = p.Metadata.Continue; next == "" {
			snap.revision = p.Metadata.ResourceVersion
			hash.Sum(snap.values[:0])
			return snap, nil
		}
	}
}

// revision returns the current revision of the store: the resourceVersion of a list.
func revision(ctx context.Context, s *serverbench.Server) (int64, error) {
	c := s.NewClient()
	defer c.Close()
	body, err := c.Do(ctx, serverbench.Request{Method: "GET", Path: "/apis/apps/v1/deployments?limit=1"})
	if err != nil {
		return 0, err
	}
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		return 0, err
	}
	return strconv.ParseInt(p.Metadata.ResourceVersion, 10, 64)
}

// add counts the field managers of object in s.owners. It removes managedFields and resourceVersion from object, and
// returns the rest as JSON.
func (s *snapshot) add(object map[string]any) ([]byte, error) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expected an object with metadata, received %v", object)
	}
	names := ""
	entries, _ := metadata["managedFields"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		names += fmt.Sprintf("%v %v;", entry["manager"], entry["operation"])
	}
	s.owners[names]++
	delete(metadata, "managedFields")
	delete(metadata, "resourceVersion")
	return json.Marshal(object)
}

// checkMigrated returns an error unless s has the values of original, a snapshot before the migration, and every object
// has exactly one managed fields entry: that of manager with operation Apply. objects is the expected number of
// objects.
func (s snapshot) checkMigrated(original snapshot, manager string, objects int) error {
	if want := map[string]int{manager + " Apply;": objects}; !maps.Equal(s.owners, want) {
		return fmt.Errorf("field managers: expected %v, received %v", want, s.owners)
	}
	if s.values != original.values {
		return fmt.Errorf("values: expected hash %x, received %x", original.values, s.values)
	}
	return nil
}
