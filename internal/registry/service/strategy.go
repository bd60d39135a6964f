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
		Prepare: amend,
		Allocate: func(ctx context.Context, a *registry.Allocation, obj, live document.Value) (document.Value, []storage.Write, error) {
			r := reserving{ctx: ctx, all: a.Registry, network: network.Masked(), dryRun: a.DryRun, mine: map[string]bool{}}
			return r.reserve(obj, live)
		},
	}
}

// reserve gives a service what it needs, and lets go of what it no longer does.
func (r *reserving) reserve(obj, live document.Value) (document.Value, []storage.Write, error) {
	r.service = obj
	if obj.IsAbsent() {
		r.service = live
	}
	r.had = holdings(live.Get("spec"))
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
	now := holdings(obj.Get("spec"))
	for _, key := range r.had {
		if !slices.Contains(now, key) {
			if err := r.release(key); err != nil {
				return obj, nil, err
			}
		}
	}
	return obj, r.writes, nil
}

// address gives a service its address. One that has an address can't have another, which is for the rules to say.
func (r *reserving) address(spec, old document.Value) (document.Value, error) {
	asked := first(spec.Get("clusterIPs"))
	if !hasAddress(spec) || isHeadless(spec) || hasAddress(old) && asked != first(old.Get("clusterIPs")) {
		return spec, nil
	}
	if asked != "" {
		if err := r.takeAddress(asked); err != nil {
			return spec, r.invalid(field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), texts(spec.Get("clusterIPs")),
				fmt.Sprintf("failed to allocate IP %s: %v", asked, err))})
		}
		return spec, nil
	}
	drawn, err := r.drawAddress()
	if err != nil {
		return spec, r.failed(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", r.name(), err))
	}
	address := document.NewString(drawn)
	return spec.With("clusterIP", address).With("clusterIPs", document.NewList(address)), nil
}

// holdings returns the keys of all reservations that a service has.
func holdings(spec document.Value) []key {
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

func (r *reserving) name() string { return r.service.Lookup("metadata", "name").Text() }

func (r *reserving) invalid(errs field.ErrorList) error {
	return api.Invalid(schema.GroupKind{Kind: "Service"}, r.name(), errs)
}

func (r *reserving) failed(err error) error { return apierrors.NewInternalError(err) }
