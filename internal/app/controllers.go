package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/controllers/certificates"
	"github.com/cadastre/cadastre/internal/controllers/eventttl"
	"github.com/cadastre/cadastre/internal/controllers/garbagecollector"
	"github.com/cadastre/cadastre/internal/controllers/leaderelection"
	"github.com/cadastre/cadastre/internal/controllers/namespace"
	"github.com/cadastre/cadastre/internal/registry"
)

// DefaultEventTTL is the default time to live of events, as in Kubernetes.
const DefaultEventTTL = time.Hour

// leaseNamespace and leaseName name the Lease of the leader election among servers that share a store.
const (
	leaseNamespace = "kube-system"
	leaseName      = "cadastre-controllers"
)

// controllerUser returns the user of the writes of the named controller. It has the name of the controller's service account in
// Kubernetes, which webhooks and policies may match.
func controllerUser(name string) *authn.User {
	return &authn.User{
		Name:   "system:serviceaccount:kube-system:" + name,
		Groups: []string{authn.MastersGroup, "system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}
}

// startControllers starts controllers that a Kubernetes cluster runs in kube-controller-manager or kube-apiserver: garbage
// collection, namespace deletion, signing of client certificates and the expiry of events. If several servers share a store, only the leader runs them.
//
// Controllers read objects from the watch cache without managedFields. The expiry of events is an exception: it reads the
// time of an event's last write from its managedFields.
func (s *Server) startControllers(ctx context.Context, all *registry.Registry) error {
	ctx, s.stopControllers = context.WithCancel(context.WithoutCancel(ctx))
	own := &systemObjects{all: all, address: s.address(), interval: s.config.reconcileInterval, withoutFairness: s.config.WithoutFairness}
	s.running.Go("system objects", func() { own.run(ctx) })
	s.running.Go("priority and fairness", func() { s.fairness.controller.Run(ctx) })
	if s.config.WithoutControllers {
		return nil
	}
	run := func(ctx context.Context) { s.runControllers(ctx, all) }
	if !s.store.IsShared() {
		s.running.Go("controllers", func() { run(ctx) })
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find the host name for leader election: %w", err)
	}
	elector := &leaderelection.Elector{
		Objects: all, Namespace: leaseNamespace, Name: leaseName, Identity: fmt.Sprintf("%s_%s", host, uuid.NewUUID()),
		User: systemUser, Manager: systemManager, Log: s.config.Log,
	}
	s.running.Go("controllers", func() { elector.Run(ctx, run) })
	return nil
}

// runControllers runs the controllers until the context is canceled, and returns when all controllers have stopped.
func (s *Server) runControllers(ctx context.Context, all *registry.Registry) {
	var running sync.WaitGroup
	defer running.Wait()
	remover := &namespace.Controller{Objects: all, User: controllerUser("namespace-controller"), Manager: systemManager, Log: s.config.Log}
	running.Go(func() { remover.Run(ctx) })
	collector := &garbagecollector.Collector{Objects: all, User: controllerUser("generic-garbage-collector"), Manager: systemManager, Log: s.config.Log}
	running.Go(func() { collector.Run(ctx) })
	if s.signingCA != nil {
		signer := &certificates.Controller{
			Objects: all, CA: s.signingCA, Duration: s.config.Signing.duration(), User: controllerUser("certificate-controller"), Manager: systemManager, Log: s.config.Log,
		}
		running.Go(func() { signer.Run(ctx) })
	}
	if s.config.EventTTL > 0 && !s.config.Etcd.isSet() { // in etcd, events have leases
		expirer := &eventttl.Expirer{Objects: all, TTL: s.config.EventTTL, Log: s.config.Log}
		running.Go(func() { expirer.Run(ctx) })
	}
}
