package service

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// ports allocates the node ports of a service.
func (r *allocation) ports(spec, old document.Value) (document.Value, error) {
	var err error
	if hasPorts(spec) {
		// Requested node ports are reserved first, so that they are not allocated to other ports.
		given := nodePorts{isNew: old.IsAbsent(), taken: map[[2]int64]bool{}, of: map[int64]int64{}}
		for i, port := range spec.Get("ports").Items() {
			if err := r.reserveNodePort(i, port, given); err != nil {
				return spec, err
			}
		}
		spec = withPorts(spec, func(_ int, port document.Value) document.Value {
			if err != nil || number(port, "nodePort") != 0 || !allocatesNodePorts(spec) {
				return port
			}
			var n int64
			if n, err = r.nodePort(port, given); err != nil {
				err = r.failed(fmt.Errorf("failed to allocate a nodePort: %w", err))
				return port
			}
			return port.With("nodePort", document.NewInt(n))
		})
	}
	if err != nil || !hasHealthCheck(spec) {
		return spec, err
	}
	return r.healthCheck(spec)
}

// nodePorts are the node ports of a service so far.
type nodePorts struct {
	isNew bool
	taken map[[2]int64]bool // by node port and, if the service is new, port
	of    map[int64]int64   // the first of each port
}

// reserveNodePort reserves a requested node port. A new service may use one node port for several ports of the same number, which
// differ in protocol; an existing one for any ports.
func (r *allocation) reserveNodePort(i int, port document.Value, given nodePorts) error {
	n, same := number(port, "nodePort"), number(port, "port")
	if n == 0 {
		return nil
	}
	pair := [2]int64{n, same}
	if !given.isNew {
		pair[1] = 0
	}
	if given.taken[pair] {
		return nil
	}
	given.taken[pair] = true
	if given.of[same] == 0 {
		given.of[same] = n
	}
	if err := r.reservePort(n); err != nil {
		return r.invalid(field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), n, err.Error())})
	}
	return nil
}

// nodePort allocates a node port. The ports of a new service that have the same number share one.
func (r *allocation) nodePort(port document.Value, given nodePorts) (int64, error) {
	same := number(port, "port")
	if n := given.of[same]; n != 0 && given.isNew {
		return n, nil
	}
	n, err := r.allocatePort()
	given.of[same] = n
	return n, err
}

// healthCheck allocates the health check node port.
func (r *allocation) healthCheck(spec document.Value) (document.Value, error) {
	if n := number(spec, "healthCheckNodePort"); n != 0 {
		if err := r.reservePort(n); err != nil {
			return spec, r.failed(fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %w", n, err))
		}
		return spec, nil
	}
	n, err := r.allocatePort()
	if err != nil {
		return spec, r.failed(fmt.Errorf("failed to allocate a HealthCheck NodePort: %w", err))
	}
	return spec.With("healthCheckNodePort", document.NewInt(n)), nil
}
