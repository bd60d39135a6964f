package service

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
)

// Resource is the name of services in keys.
const Resource = "core/services"

// DefaultCIDR is the default service network.
var DefaultCIDR = netip.MustParsePrefix("10.96.0.0/12")

// Strategy returns the strategy of services: it allocates their cluster IPs, from an IPv4 network, and their node ports.
func Strategy(network netip.Prefix) registry.Strategy {
	return registry.Strategy{
		Prepare: prepare,
		Allocate: func(ctx context.Context, a *registry.Allocation, obj, live document.Value) (document.Value, []storage.Write, error) {
			r := allocation{ctx: ctx, all: a.Registry, network: network.Masked(), dryRun: a.DryRun, reserved: map[string]bool{}}
			return r.reserve(obj, live)
		},
	}
}

// reserve allocates the addresses and ports of a service, and releases those that it does not have any more. It returns the
// service and the writes of the reservations.
func (r *allocation) reserve(obj, live document.Value) (document.Value, []storage.Write, error) {
	r.service = obj
	if obj.IsAbsent() {
		r.service = live
	}
	r.current = reservations(live.Get("spec"))
	if !obj.IsAbsent() {
		spec, old := obj.Get("spec"), live.Get("spec")
		if hasAddress(spec) && !keepsPreference(spec, old) {
			errs := builtin.CheckAddresses(obj, live)
			if len(errs) == 0 {
				errs = checkFamilies(spec, old)
			}
			if len(errs) > 0 {
				return obj, nil, r.invalid(errs)
			}
		}
		spec, err := r.address(spec, old)
		if err != nil {
			return obj, nil, err
		}
		if spec, err = r.ports(spec, old); err != nil {
			return obj, nil, err
		}
		if !document.Same(spec, obj.Get("spec")) {
			obj = obj.With("spec", spec)
		}
	}
	now := reservations(obj.Get("spec"))
	for _, key := range r.current {
		if !slices.Contains(now, key) {
			if err := r.release(key); err != nil {
				return obj, nil, err
			}
		}
	}
	return obj, r.writes, nil
}

// address allocates the cluster IP of a service. A changed cluster IP is left to validation, which rejects it.
func (r *allocation) address(spec, old document.Value) (document.Value, error) {
	requested := first(spec.Get("clusterIPs"))
	if !hasAddress(spec) || isHeadless(spec) || hasAddress(old) && requested != first(old.Get("clusterIPs")) {
		return spec, nil
	}
	if requested != "" {
		if err := r.reserveAddress(requested); err != nil {
			return spec, r.invalid(field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), texts(spec.Get("clusterIPs")),
				fmt.Sprintf("failed to allocate IP %s: %v", requested, err))})
		}
		return spec, nil
	}
	allocated, err := r.allocateAddress()
	if err != nil {
		return spec, r.failed(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", r.name(), err))
	}
	address := document.NewString(allocated)
	return spec.With("clusterIP", address).With("clusterIPs", document.NewList(address)), nil
}

// reservations returns the keys of the reservations of a service.
func reservations(spec document.Value) []key {
	var keys []key
	if hasAddress(spec) && !isHeadless(spec) {
		if address := first(spec.Get("clusterIPs")); address != "" {
			keys = append(keys, addressKey(address))
		}
	}
	if !hasPorts(spec) {
		return keys
	}
	seen := map[int64]bool{}
	for _, port := range spec.Get("ports").Items() {
		if n := number(port, "nodePort"); n != 0 && !seen[n] {
			seen[n] = true
			keys = append(keys, portKey(n))
		}
	}
	if n := number(spec, "healthCheckNodePort"); n != 0 && hasHealthCheck(spec) {
		keys = append(keys, portKey(n))
	}
	return keys
}

func (r *allocation) name() string { return r.service.Lookup("metadata", "name").Text() }

func (r *allocation) invalid(errs field.ErrorList) error {
	return api.Invalid(schema.GroupKind{Kind: "Service"}, r.name(), errs)
}

func (r *allocation) failed(err error) error { return apierrors.NewInternalError(err) }
