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

// Definitions is a number of CRDs, each with a schema of the size that operators publish.
type Definitions struct{ Count int }

// DefinitionsResult is the cost of creating many CRDs.
type DefinitionsResult struct {
	// Wall is the time from the creation of the first CRD until the last CRD is served.
	Wall time.Duration
	// P50 and P99 are percentiles of the time from the creation of a CRD until it is served.
	P50, P99 time.Duration
	// CPU is the CPU time of the server until it is idle; StoreCPU is the CPU time of its etcd.
	CPU, StoreCPU time.Duration
	// Index, Document and Discovery are the times of the first requests for the OpenAPI index, for one OpenAPI
	// document, and for aggregated discovery.
	Index, Document, Discovery time.Duration
	// Before is the memory of the server without CRDs.
	Before proc.Memory
	// Served is the memory of the server when all CRDs are served.
	Served proc.Memory
	// Used is the memory of the server with one object of each kind.
	Used proc.Memory
}

func (d Definitions) kind(i int) customKind { return customKind(fmt.Sprintf("kind%d", i)) }

// Define creates all CRDs, requests OpenAPI and discovery, and creates one object of each kind.
func (d Definitions) Define(ctx context.Context, s *Server, clients int) (r DefinitionsResult, err error) {
	schema, err := operatorSchema()
	if err != nil {
		return r, err
	}
	if err := s.makeNamespace(ctx, objectKey{namespace: customNamespace}); err != nil {
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
	if err := r.requestSchemas(ctx, s); err != nil {
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

// requestSchemas measures the first requests for OpenAPI and discovery documents, which servers build when they are first
// requested. All CRDs are in one API group and therefore in one OpenAPI document.
func (r *DefinitionsResult) requestSchemas(ctx context.Context, s *Server) error {
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

// settled waits until a server is idle, and returns its CPU time and memory.
func (s *Server) settled(ctx context.Context) (Usage, error) {
	if err := s.Settle(ctx); err != nil {
		return Usage{}, err
	}
	return s.Usage()
}

// operatorSchema returns a schema of about 70 KB, which is the average of published operators. It is a part of the
// larger schema in package fixture.
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
		return "", errors.New("fixture.Definition: spec.versions must not be empty")
	}
	part := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties{"spec": part, "status": json.RawMessage(`{"type":"object"}`)}})
	return string(schema), err
}

// isNotServed reports whether err is the response of a server that does not serve a custom resource yet.
func isNotServed(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusTooManyRequests)
}
