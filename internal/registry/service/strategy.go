package service

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
)

// Resource is the GROUP/RESOURCE of services in watch cache keys.
const Resource = "core/services"

// DefaultCIDR is the default network of cluster IPs.
var DefaultCIDR = netip.MustParsePrefix("10.96.0.0/12")

// Strategy returns the strategy of services, which allocates cluster IPs from an IPv4 network, and node ports.
func Strategy(network netip.Prefix) registry.Strategy {
	return registry.Strategy{
		Prepare: prepare,
		Allocate: func(ctx context.Context, a *registry.Allocation, obj, live document.Value) (document.Value, []storage.Write, error) {
			r := allocation{ctx: ctx, registry: a.Registry, network: network.Masked(), dryRun: a.DryRun, reserved: map[string]bool{}}
			return r.reserve(obj, live)
		},
	}
}

// reserve implements Strategy.Allocate: it allocates the cluster IP and the node ports of obj, and releases the cluster IP
// and node ports of live that obj does not have. It returns obj with the allocated values and the writes that create and
// delete reservations. If obj is absent, it releases all reservations of live.
func (a *allocation) reserve(obj, live document.Value) (document.Value, []storage.Write, error) {
	a.service = obj
	if obj.IsAbsent() {
		a.service = live
	}
	a.current = reservations(live.Get("spec"))
	if !obj.IsAbsent() {
		spec, old := obj.Get("spec"), live.Get("spec")
		if hasClusterIPs(spec) && !keepsPreferDualStack(spec, old) {
			errs := builtin.CheckAddresses(obj, live)
			if len(errs) == 0 {
				errs = checkFamilies(spec, old)
			}
			if len(errs) > 0 {
				return obj, nil, a.invalidError(errs)
			}
		}
		spec, err := a.assignClusterIP(spec, old)
		if err != nil {
			return obj, nil, err
		}
		if spec, err = a.assignNodePorts(spec, old); err != nil {
			return obj, nil, err
		}
		if !document.Same(spec, obj.Get("spec")) {
			obj = obj.With("spec", spec)
		}
	}
	retained := reservations(obj.Get("spec"))
	for _, key := range a.current {
		if !slices.Contains(retained, key) {
			if err := a.release(key); err != nil {
				return obj, nil, err
			}
		}
	}
	return obj, a.writes, nil
}

// assignClusterIP returns the spec with a cluster IP: it reserves the address that the spec contains, or allocates a free
// address. If an update changes the cluster IP, it returns the spec unchanged, and validation rejects it.
func (a *allocation) assignClusterIP(spec, old document.Value) (document.Value, error) {
	requested := firstString(spec.Get("clusterIPs"))
	if !hasClusterIPs(spec) || isHeadless(spec) || hasClusterIPs(old) && requested != firstString(old.Get("clusterIPs")) {
		return spec, nil
	}
	if requested != "" {
		if err := a.reserveAddress(requested); err != nil {
			return spec, a.invalidError(field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), stringsOf(spec.Get("clusterIPs")),
				fmt.Sprintf("failed to allocate IP %s: %v", requested, err))})
		}
		return spec, nil
	}
	allocated, err := a.allocateAddress()
	if err != nil {
		if problem := a.nameProblem(err); problem != nil {
			return spec, a.invalidError(field.ErrorList{problem})
		}
		return spec, a.internalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", a.name(), err))
	}
	address := document.NewString(allocated)
	return spec.With("clusterIP", address).With("clusterIPs", document.NewList(address)), nil
}

// reservations returns the keys of the reservations for the cluster IP and the node ports in the spec of a service.
func reservations(spec document.Value) []key {
	var keys []key
	if hasClusterIPs(spec) && !isHeadless(spec) {
		if address := firstString(spec.Get("clusterIPs")); address != "" {
			keys = append(keys, addressKey(address))
		}
	}
	if !hasNodePorts(spec) {
		return keys
	}
	seen := map[int64]bool{}
	for _, port := range spec.Get("ports").Items() {
		if n := intField(port, "nodePort"); n != 0 && !seen[n] {
			seen[n] = true
			keys = append(keys, portKey(n))
		}
	}
	if n := intField(spec, "healthCheckNodePort"); n != 0 && hasHealthCheck(spec) {
		keys = append(keys, portKey(n))
	}
	return keys
}

func (a *allocation) name() string { return a.service.Lookup("metadata", "name").Text() }

// invalidError returns the 422 for a service with the errors errs.
func (a *allocation) invalidError(errs field.ErrorList) error {
	return api.Invalid(schema.GroupKind{Kind: "Service"}, a.name(), errs)
}

// nameProblem returns the error of the service's name if err is the error of an IPAddress that rejects the name as that of its
// parent; otherwise nil.
func (a *allocation) nameProblem(err error) *field.Error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonInvalid || status.Status().Details == nil {
		return nil
	}
	at := field.NewPath("metadata", "name")
	for _, cause := range status.Status().Details.Causes {
		switch {
		case cause.Field != "spec.parentRef.name":
		case a.name() == "":
			return field.Required(at, "name or generateName is required")
		default:
			_, problem, _ := strings.Cut(cause.Message, strconv.Quote(a.name())+": ")
			return field.Invalid(at, a.name(), problem)
		}
	}
	return nil
}

func (a *allocation) internalError(err error) error { return apierrors.NewInternalError(err) }
