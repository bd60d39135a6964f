package server

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/cadastre/cadastre/internal/election"
	"github.com/cadastre/cadastre/internal/expiry"
	"github.com/cadastre/cadastre/internal/garbage"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/namespaces"
	"github.com/cadastre/cadastre/internal/objects"
)

// DefaultEventLife is how long events live unless something else is configured, as in Kubernetes.
const DefaultEventLife = time.Hour

// The lease by which servers that share a store agree on whose controllers work.
const (
	leaseNamespace = "kube-system"
	leaseName      = "cadastre-controllers"
)

// controllerUser is who a controller acts as. It has the name that it has in Kubernetes, so that webhooks and
// policies that know it there know it here.
func controllerUser(name string) *identity.User {
	return &identity.User{
		Name:   "system:serviceaccount:kube-system:" + name,
		Groups: []string{identity.MastersGroup, "system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}
}

// startControllers has the server do what other processes do in a cluster: collect garbage, empty namespaces,
// and remove old events. If other servers have the same store, one of them does.
//
// Controllers, and all else here that follows objects, read them from the cache without managedFields, which costs what it
// costs to leave them out of an answer: nothing. Only that of events looks at managedFields, for when an event was last
// written, which nothing else tells. Definitions of kinds are parsed where the cache has them, and theirs not looked at.
func (s *Server) startControllers(ctx context.Context, all *objects.Objects) error {
	ctx, s.stopControllers = context.WithCancel(context.WithoutCancel(ctx))
	own := &keeper{all: all, address: s.socket.Addr(), every: s.config.keepEvery}
	s.running.Go(func() { own.run(ctx) })
	if s.config.WithoutControllers {
		return nil
	}
	control := func(ctx context.Context) { s.control(ctx, all) }
	if !s.store.IsShared() {
		s.running.Go(func() { control(ctx) })
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find a name for this server among those that share the store: %w", err)
	}
	elector := &election.Elector{
		Objects: all, Namespace: leaseNamespace, Name: leaseName, Identity: fmt.Sprintf("%s_%s", host, uuid.NewUUID()),
		User: systemUser, Manager: systemManager, Log: s.config.Log,
	}
	s.running.Go(func() { elector.Run(ctx, control) })
	return nil
}

// control runs the controllers until the context ends.
func (s *Server) control(ctx context.Context, all *objects.Objects) {
	var running sync.WaitGroup
	defer running.Wait()
	remover := &namespaces.Remover{Objects: all, User: controllerUser("namespace-controller"), Manager: systemManager, Log: s.config.Log}
	running.Go(func() { remover.Run(ctx) })
	collector := &garbage.Collector{Objects: all, User: controllerUser("generic-garbage-collector"), Manager: systemManager, Log: s.config.Log}
	running.Go(func() { collector.Run(ctx) })
	if s.config.EventLife > 0 {
		expirer := &expiry.Expirer{Objects: all, Life: s.config.EventLife, Log: s.config.Log}
		running.Go(func() { expirer.Run(ctx) })
	}
}
