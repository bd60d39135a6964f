package serverbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/proc"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Definitions are many kinds, each with a schema of the size that operators ship.
type Definitions struct{ Count int }

// A DefinitionsResult is what they cost.
type DefinitionsResult struct {
	// Wall is from the first definition until the last is served; P50 and P99 are those of one.
	Wall, P50, P99 time.Duration
	// CPU is what the server used for them until it came to rest, StoreCPU the store beside it.
	CPU, StoreCPU time.Duration
	// Index is how long the list of OpenAPI documents takes then, Document one of them, and Discovery all kinds.
	Index, Document, Discovery time.Duration
	// Before is the memory without them; Served when all are served; Used when there is an object of each.
	Before, Served, Used proc.Memory
}

func (d Definitions) kind(i int) customKind { return customKind(fmt.Sprintf("kind%d", i)) }

// Define has a server serve all of them, looks at them, and makes an object of each.
func (d Definitions) Define(ctx context.Context, s *Server, clients int) (r DefinitionsResult, err error) {
	schema, err := operatorSchema()
	if err != nil {
		return r, err
	}
	if err := s.makeNamespace(ctx, place{space: customSpace}); err != nil {
		return r, err
	}
	before, err := s.settled(ctx)
	if err != nil {
		return r, err
	}
	latencies := make([]time.Duration, d.Count)
	start := time.Now()
	err = s.each(ctx, clients, d.Count, func(ctx context.Context, c *Client, i int) error {
		start := time.Now()
		defer func() { latencies[i] = time.Since(start) }()
		return d.kind(i).define(ctx, c, schema)
	})
	if err != nil {
		return r, err
	}
	r.Wall = time.Since(start)
	slices.Sort(latencies)
	r.P50, r.P99 = stat.Percentile(latencies, 50), stat.Percentile(latencies, 99)
	served, err := s.settled(ctx)
	if err != nil {
		return r, err
	}
	r.CPU, r.StoreCPU = served.CPU-before.CPU, served.StoreCPU-before.StoreCPU
	r.Before, r.Served = before.Memory, served.Memory
	if err := r.look(ctx, s); err != nil {
		return r, err
	}
	err = s.each(ctx, clients, d.Count, func(ctx context.Context, c *Client, i int) error {
		k := d.kind(i)
		body := fmt.Sprintf(`{"apiVersion":"%s/v1","kind":%q,"metadata":{"name":"one"},"spec":{}}`, customGroup, k.name())
		_, err := c.Do(ctx, write("PATCH", k.collection()+"/one?fieldManager="+manager, applyType, []byte(body)))
		return err
	})
	if err != nil {
		return r, err
	}
	used, err := s.settled(ctx)
	r.Used = used.Memory
	return r, err
}

// look asks for what clients ask for first. Every kind has its group in common, so that one document has all.
func (r *DefinitionsResult) look(ctx context.Context, s *Server) error {
	c := s.NewClient()
	defer c.Close()
	for _, document := range []struct {
		path, accept string
		took         *time.Duration
	}{
		{"/openapi/v3", "", &r.Index},
		{"/openapi/v3/apis/apps/v1", "", &r.Document},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", &r.Discovery},
	} {
		start := time.Now()
		if _, err := c.Do(ctx, Request{Method: http.MethodGet, Path: document.path, Accept: document.accept}); err != nil {
			return err
		}
		*document.took = time.Since(start)
	}
	return nil
}

// settled is what a server uses when it has come to rest.
func (s *Server) settled(ctx context.Context) (Usage, error) {
	if err := s.Settle(ctx); err != nil {
		return Usage{}, err
	}
	return s.Usage()
}

// operatorSchema is one of about 70 KB, the average of what projects ship: a part of the schema of the definition in package
// fixture, which is one of the greater.
func operatorSchema() (string, error) {
	type properties map[string]json.RawMessage
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct{ Properties properties }
				}
			}
		}
	}
	if err := json.Unmarshal(fixture.Definition().Config, &definition); err != nil {
		return "", err
	}
	if len(definition.Spec.Versions) == 0 {
		return "", errors.New("expected a version in the definition of package fixture, received none")
	}
	part := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties{"spec": part, "status": json.RawMessage(`{"type":"object"}`)}})
	return string(schema), err
}

// isNotServed says that a kind is not there yet, or will be in a moment.
func isNotServed(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusTooManyRequests)
}
