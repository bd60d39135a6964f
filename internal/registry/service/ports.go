package service

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// ports gives a service the ports that nodes open for it.
func (r *reserving) ports(spec, old document.Value) (document.Value, error) {
	var err error
	if hasPorts(spec) {
		// What is asked for is taken first, so that it is not drawn for another port.
		given := nodePorts{isNew: old.IsAbsent(), taken: map[[2]int64]bool{}, of: map[int64]int64{}}
		for i, port := range spec.Get("ports").Items() {
			if err := r.takeNodePort(i, port, given); err != nil {
				return spec, err
			}
		}
		spec = withPorts(spec, func(_ int, port document.Value) document.Value {
			if err != nil || number(port, "nodePort") != 0 || !wantsPorts(spec) {
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

// nodePorts are those that the ports of a service have so far.
type nodePorts struct {
	isNew bool
	taken map[[2]int64]bool // by node port and, if the service is new, port
	of    map[int64]int64   // the first of each port
}

// takeNodePort takes the node port that is asked for. A new service may have the same one for
// ports of the same number, which differ in protocol; an old one for any.
func (r *reserving) takeNodePort(i int, port document.Value, given nodePorts) error {
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
	if err := r.takePort(n); err != nil {
		return r.invalid(field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), n, err.Error())})
	}
	return nil
}

// nodePort returns a node port for a port that has none: that of a port with the same number, if
// the service is new, else another one.
func (r *reserving) nodePort(port document.Value, given nodePorts) (int64, error) {
	same := number(port, "port")
	if n := given.of[same]; n != 0 && given.isNew {
		return n, nil
	}
	n, err := r.drawPort()
	given.of[same] = n
	return n, err
}

// healthCheck gives a service the port at which nodes tell whether they have endpoints of it.
func (r *reserving) healthCheck(spec document.Value) (document.Value, error) {
	if n := number(spec, "healthCheckNodePort"); n != 0 {
		if err := r.takePort(n); err != nil {
			return spec, r.failed(fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %w", n, err))
		}
		return spec, nil
	}
	n, err := r.drawPort()
	if err != nil {
		return spec, r.failed(fmt.Errorf("failed to allocate a HealthCheck NodePort: %w", err))
	}
	return spec.With("healthCheckNodePort", document.NewInt(n)), nil
}
