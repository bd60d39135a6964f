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

// sight is what can be seen of all objects.
type sight struct {
	// revision is that of the store.
	revision string
	// values is a hash of all that is not about owners and revisions.
	values [sha256.Size]byte
	// owners counts the objects by who owns their fields.
	owners map[string]int
}

// page is a part of a list.
type page struct {
	Metadata struct{ ResourceVersion, Continue string }
	Items    []map[string]any
}

// look lists the objects.
func look(ctx context.Context, s *serverbench.Server) (sight, error) {
	c := s.NewClient()
	defer c.Close()
	seen := sight{owners: map[string]int{}}
	hash := sha256.New()
	for next := ""; ; {
		answer, err := c.Do(ctx, serverbench.Request{Method: "GET", Path: "/apis/apps/v1/deployments?limit=1000&continue=" + url.QueryEscape(next)})
		if err != nil {
			return seen, err
		}
		var p page
		if err := json.Unmarshal(answer, &p); err != nil {
			return seen, err
		}
		for _, item := range p.Items {
			text, err := seen.take(item)
			if err != nil {
				return seen, err
			}
			hash.Write(text)
		}
		if next = p.Metadata.Continue; next == "" {
			seen.revision = p.Metadata.ResourceVersion
			hash.Sum(seen.values[:0])
			return seen, nil
		}
	}
}

// revision is that of the store.
func revision(ctx context.Context, s *serverbench.Server) (int64, error) {
	c := s.NewClient()
	defer c.Close()
	answer, err := c.Do(ctx, serverbench.Request{Method: "GET", Path: "/apis/apps/v1/deployments?limit=1"})
	if err != nil {
		return 0, err
	}
	var p page
	if err := json.Unmarshal(answer, &p); err != nil {
		return 0, err
	}
	return strconv.ParseInt(p.Metadata.ResourceVersion, 10, 64)
}

// take counts the owners of an object, and returns the rest of it.
func (s *sight) take(object map[string]any) ([]byte, error) {
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

// same compares: the values must be those of before, and the manager the one owner of each object, by apply.
func (s sight) same(before sight, manager string, objects int) error {
	if want := map[string]int{manager + " Apply;": objects}; !maps.Equal(s.owners, want) {
		return fmt.Errorf("owners: expected %v, received %v", want, s.owners)
	}
	if s.values != before.values {
		return fmt.Errorf("values: expected those with the hash %x, received %x", before.values, s.values)
	}
	return nil
}
