package service

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// assignNodePorts returns the spec with node ports and a health check node port, where the type of the service requires them. It
// reserves the ports that the spec contains, and allocates the others.
func (a *allocation) assignNodePorts(spec, old document.Value) (document.Value, error) {
	var err error
	if hasNodePorts(spec) {
		// Requested node ports are reserved first, so that they are not allocated to other ports.
		assigned := nodePorts{isNew: old.IsAbsent(), taken: map[[2]int64]bool{}, byPort: map[int64]int64{}}
		for i, port := range spec.Get("ports").Items() {
			if err := a.reserveNodePort(i, port, assigned); err != nil {
				return spec, err
			}
		}
		spec = withPorts(spec, func(_ int, port document.Value) document.Value {
			if err != nil || intField(port, "nodePort") != 0 || !allocatesNodePorts(spec) {
				return port
			}
			var n int64
			if n, err = a.assignNodePort(port, assigned); err != nil {
				err = a.internalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
				return port
			}
			return port.With("nodePort", document.NewInt(n))
		})
	}
	if err != nil || !hasHealthCheck(spec) {
		return spec, err
	}
	return a.assignHealthCheckPort(spec)
}

// nodePorts are the node ports that were reserved or allocated so far for one service.
type nodePorts struct {
	// isNew reports whether the service is created.
	isNew bool
	// taken holds pairs of a node port and the number of the service port that uses it. For an existing service, the second
	// number is always 0, because any of its ports may share a node port.
	taken map[[2]int64]bool
	// byPort maps the number of a service port to its first node port.
	byPort map[int64]int64
}

// reserveNodePort reserves the node port that spec.ports[i] contains, if any. In a new service, ports with the same port number,
// which differ in protocol, may share a node port; in an existing service, any ports may.
func (a *allocation) reserveNodePort(i int, port document.Value, assigned nodePorts) error {
	n, portNumber := intField(port, "nodePort"), intField(port, "port")
	if n == 0 {
		return nil
	}
	pair := [2]int64{n, portNumber}
	if !assigned.isNew {
		pair[1] = 0
	}
	if assigned.taken[pair] {
		return nil
	}
	assigned.taken[pair] = true
	if assigned.byPort[portNumber] == 0 {
		assigned.byPort[portNumber] = n
	}
	if err := a.reservePort(n); err != nil {
		return a.invalidError(field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), n, err.Error())})
	}
	return nil
}

// assignNodePort returns a node port for a port that does not contain one. Ports of a new service with the same port number share
// a node port.
func (a *allocation) assignNodePort(port document.Value, assigned nodePorts) (int64, error) {
	portNumber := intField(port, "port")
	if n := assigned.byPort[portNumber]; n != 0 && assigned.isNew {
		return n, nil
	}
	n, err := a.allocatePort()
	assigned.byPort[portNumber] = n
	return n, err
}

// assignHealthCheckPort reserves healthCheckNodePort of the spec, or allocates and sets it.
func (a *allocation) assignHealthCheckPort(spec document.Value) (document.Value, error) {
	if n := intField(spec, "healthCheckNodePort"); n != 0 {
		if err := a.reservePort(n); err != nil {
			return spec, a.internalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %w", n, err))
		}
		return spec, nil
	}
	n, err := a.allocatePort()
	if err != nil {
		return spec, a.internalError(fmt.Errorf("failed to allocate a HealthCheck NodePort: %w", err))
	}
	return spec.With("healthCheckNodePort", document.NewInt(n)), nil
}
