package service

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// How reservations are called in keys.
const (
	addressKind = "networking.k8s.io/ipaddresses"
	portKind    = "cadastre/nodeports"
)

// The ports that nodes open.
const firstPort, lastPort = 30000, 32767

// Who reserves, and as whom it is known in managedFields.
var user = &authn.User{Name: "system:apiserver"}

const manager = "cadastre"

// What Kubernetes says about what can't be reserved.
var (
	errAddressTaken   = errors.New("provided IP is already allocated")
	errAddressOutside = errors.New("the provided network does not match the current range")
	errPortTaken      = errors.New("provided port is already allocated")
	errPortOutside    = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", firstPort, lastPort)
)

// key says which reservation is meant.
type key = watchcache.Key

func addressKey(address string) key { return key{Kind: addressKind, Name: address} }

func portKey(port int64) key { return key{Kind: portKind, Name: strconv.FormatInt(port, 10)} }

// reserving is a write of a service that is under way.
type reserving struct {
	ctx     context.Context
	all     *registry.Registry
	network netip.Prefix
	service document.Value
	dryRun  bool
	// had are the reservations that the service has already, mine those that it shall have.
	had  []key
	mine map[string]bool
	// drawn is how many ports a dry run has made up.
	drawn  int
	writes []storage.Write
}

// owner names the service in reservations.
func (r *reserving) owner() (namespace, name string) {
	metadata := r.service.Get("metadata")
	return metadata.Get("namespace").Text(), metadata.Get("name").Text()
}

// find returns a reservation, nil if there is none, and whether it is the service's.
func (r *reserving) find(k key, f watchcache.Freshness) (there *watchcache.Object, isOwn bool, err error) {
	there, err = r.all.Cache.Get(r.ctx, k, f)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, registry.StoreError(err)
	}
	parsed, err := there.Parsed()
	if err != nil {
		return nil, false, registry.StoreError(err)
	}
	parent := parsed.Document.Lookup("spec", "parentRef")
	namespace, name := r.owner()
	return there, parent.Get("resource").Text() == "services" && parent.Get("namespace").Text() == namespace && parent.Get("name").Text() == name, nil
}

// take reserves what the service asks for. What it has already is reserved again should the
// reservation be gone.
func (r *reserving) take(k key, taken, outside error, isInside bool) error {
	if r.mine[k.String()] {
		return taken
	}
	has := slices.Contains(r.had, k)
	if !isInside && !has {
		return outside
	}
	there, isOwn, err := r.find(k, watchcache.Latest)
	switch {
	case err != nil:
		return err
	case there != nil && (!isOwn || !has):
		return taken
	case there == nil:
		return r.add(k)
	}
	r.mine[k.String()] = true
	return nil
}

// takeAddress reserves an address that is asked for.
func (r *reserving) takeAddress(address string) error {
	ip, err := netip.ParseAddr(address)
	isInside := err == nil && r.network.Contains(ip) && ip != r.network.Addr() && ip != r.addressAt(r.addresses()+1)
	if r.dryRun {
		if err != nil || !r.network.Contains(ip) {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", address, r.network)
		}
		return nil
	}
	return r.take(addressKey(address), errAddressTaken, errAddressOutside, isInside)
}

// takePort reserves a port that is asked for.
func (r *reserving) takePort(port int64) error {
	return r.take(portKey(port), errPortTaken, errPortOutside, r.dryRun || port >= firstPort && port <= lastPort)
}

// drawAddress reserves an address. A dry run makes up one that can't be had.
func (r *reserving) drawAddress() (string, error) {
	if r.dryRun {
		return r.network.Addr().String(), nil
	}
	size := r.addresses()
	n, err := draw(size, lowerPart(size, 16, 256), func(n int) (bool, error) { return r.isFree(addressKey(r.addressAt(n + 1).String())) })
	if err != nil {
		return "", err
	}
	address := r.addressAt(n + 1).String()
	return address, r.add(addressKey(address))
}

// addresses is how many addresses the network has, without the first and the last.
func (r *reserving) addresses() int { return 1<<(32-r.network.Bits()) - 2 }

// addressAt returns the address at a place in the network.
func (r *reserving) addressAt(n int) netip.Addr {
	bytes := r.network.Addr().As4()
	binary.BigEndian.PutUint32(bytes[:], binary.BigEndian.Uint32(bytes[:])+uint32(n))
	return netip.AddrFrom4(bytes)
}

// drawPort reserves a port. A dry run makes up those that can't be had.
func (r *reserving) drawPort() (int64, error) {
	if r.dryRun {
		r.drawn++
		return int64(lastPort + 1 + r.drawn), nil
	}
	const size = lastPort - firstPort + 1
	n, err := draw(size, lowerPart(size, 32, 128), func(n int) (bool, error) { return r.isFree(portKey(int64(firstPort + n))) })
	if err != nil {
		return 0, err
	}
	return int64(firstPort + n), r.add(portKey(int64(firstPort + n)))
}

func (r *reserving) isFree(k key) (bool, error) {
	if r.mine[k.String()] {
		return false, nil
	}
	there, _, err := r.find(k, watchcache.Any)
	return there == nil, err
}

// add makes a reservation.
func (r *reserving) add(k key) error {
	r.mine[k.String()] = true
	if r.dryRun {
		return nil
	}
	if k.Kind == portKind {
		r.writes = append(r.writes, storage.Write{Key: k.String(), Value: []byte(r.reservation(k, "").JSON())})
		return nil
	}
	kind, _ := r.all.Kinds.Resource("networking.k8s.io", "v1", "ipaddresses")
	endpoint, err := r.all.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	write, err := r.all.DraftCreation(r.ctx, &registry.Request{
		Endpoint: endpoint, Name: k.Name, User: user, Manager: manager, Warn: func(string) {},
		Body: registry.Body{Text: r.reservation(k, familyOf(k.Name)).JSON()},
	})
	r.writes = append(r.writes, write)
	return err
}

// reservation says that something is the service's.
func (r *reserving) reservation(k key, family string) document.Value {
	namespace, name := r.owner()
	metadata := document.NewMap(document.Field{Name: "name", Value: document.NewString(k.Name)})
	if family != "" {
		metadata = metadata.With("labels", document.NewMap(
			document.Field{Name: "ipaddress.kubernetes.io/ip-family", Value: document.NewString(family)},
			document.Field{Name: "ipaddress.kubernetes.io/managed-by", Value: document.NewString("ipallocator.k8s.io")},
		))
	}
	parent := document.NewMap(
		document.Field{Name: "name", Value: document.NewString(name)},
		document.Field{Name: "namespace", Value: document.NewString(namespace)},
		document.Field{Name: "resource", Value: document.NewString("services")},
	)
	return document.NewMap(
		document.Field{Name: "metadata", Value: metadata},
		document.Field{Name: "spec", Value: document.NewMap(document.Field{Name: "parentRef", Value: parent})},
	)
}

// release lets go of a reservation, if it is the service's.
func (r *reserving) release(k key) error {
	there, isOwn, err := r.find(k, watchcache.Latest)
	if err != nil || !isOwn || r.dryRun {
		return err
	}
	r.writes = append(r.writes, storage.Write{Key: k.String(), Expected: there.Revision()})
	return nil
}
