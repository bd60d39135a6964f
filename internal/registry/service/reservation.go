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

// The resources of reservations in keys.
const (
	addressKind = "networking.k8s.io/ipaddresses"
	portKind    = "cadastre/nodeports"
)

// The range of node ports.
const firstPort, lastPort = 30000, 32767

// The user and the field manager of reservations.
var user = &authn.User{Name: "system:apiserver"}

const manager = "cadastre"

// The errors of Kubernetes.
var (
	errAddressTaken   = errors.New("provided IP is already allocated")
	errAddressOutside = errors.New("the provided network does not match the current range")
	errPortTaken      = errors.New("provided port is already allocated")
	errPortOutside    = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", firstPort, lastPort)
)

// key is the key of a reservation.
type key = watchcache.Key

func addressKey(address string) key { return key{Kind: addressKind, Name: address} }

func portKey(port int64) key { return key{Kind: portKind, Name: strconv.FormatInt(port, 10)} }

// allocation is the allocation for one write of a service.
type allocation struct {
	ctx     context.Context
	all     *registry.Registry
	network netip.Prefix
	service document.Value
	dryRun  bool
	// current are the reservations of the live service, reserved those of the new one.
	current  []key
	reserved map[string]bool
	// placeholders is the number of invalid ports that a dry run has used.
	placeholders int
	writes       []storage.Write
}

// owner returns the namespace and name of the service in reservations.
func (r *allocation) owner() (namespace, name string) {
	metadata := r.service.Get("metadata")
	return metadata.Get("namespace").Text(), metadata.Get("name").Text()
}

// find returns a reservation; nil if there is none. isOwn reports whether it belongs to the service.
func (r *allocation) find(k key, f watchcache.Freshness) (there *watchcache.Object, isOwn bool, err error) {
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

// reserveKey reserves a requested address or port. It returns taken if another service has it, and outside if it is not in the
// range. A missing reservation of the live service is created again.
func (r *allocation) reserveKey(k key, taken, outside error, isInside bool) error {
	if r.reserved[k.String()] {
		return taken
	}
	has := slices.Contains(r.current, k)
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
	r.reserved[k.String()] = true
	return nil
}

// reserveAddress reserves a requested cluster IP.
func (r *allocation) reserveAddress(address string) error {
	ip, err := netip.ParseAddr(address)
	isInside := err == nil && r.network.Contains(ip) && ip != r.network.Addr() && ip != r.addressAt(r.addresses()+1)
	if r.dryRun {
		if err != nil || !r.network.Contains(ip) {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", address, r.network)
		}
		return nil
	}
	return r.reserveKey(addressKey(address), errAddressTaken, errAddressOutside, isInside)
}

// reservePort reserves a requested node port.
func (r *allocation) reservePort(port int64) error {
	return r.reserveKey(portKey(port), errPortTaken, errPortOutside, r.dryRun || port >= firstPort && port <= lastPort)
}

// allocateAddress reserves a free cluster IP. A dry run returns the address of the network, which is never allocated.
func (r *allocation) allocateAddress() (string, error) {
	if r.dryRun {
		return r.network.Addr().String(), nil
	}
	size := r.addresses()
	n, err := allocateFree(size, staticBand(size, 16, 256), func(n int) (bool, error) { return r.isFree(addressKey(r.addressAt(n + 1).String())) })
	if err != nil {
		return "", err
	}
	address := r.addressAt(n + 1).String()
	return address, r.add(addressKey(address))
}

// addresses returns the number of usable addresses of the network: without the first and the last.
func (r *allocation) addresses() int { return 1<<(32-r.network.Bits()) - 2 }

// addressAt returns the n-th address of the network.
func (r *allocation) addressAt(n int) netip.Addr {
	bytes := r.network.Addr().As4()
	binary.BigEndian.PutUint32(bytes[:], binary.BigEndian.Uint32(bytes[:])+uint32(n))
	return netip.AddrFrom4(bytes)
}

// allocatePort reserves a free node port. A dry run returns a port outside of the range.
func (r *allocation) allocatePort() (int64, error) {
	if r.dryRun {
		r.placeholders++
		return int64(lastPort + 1 + r.placeholders), nil
	}
	const size = lastPort - firstPort + 1
	n, err := allocateFree(size, staticBand(size, 32, 128), func(n int) (bool, error) { return r.isFree(portKey(int64(firstPort + n))) })
	if err != nil {
		return 0, err
	}
	return int64(firstPort + n), r.add(portKey(int64(firstPort + n)))
}

func (r *allocation) isFree(k key) (bool, error) {
	if r.reserved[k.String()] {
		return false, nil
	}
	there, _, err := r.find(k, watchcache.Any)
	return there == nil, err
}

// add adds a reservation to the writes.
func (r *allocation) add(k key) error {
	r.reserved[k.String()] = true
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
	write, err := r.all.PrepareCreation(r.ctx, &registry.Request{
		Endpoint: endpoint, Name: k.Name, User: user, Manager: manager, Warn: func(string) {},
		Body: registry.Body{Text: r.reservation(k, familyOf(k.Name)).JSON()},
	})
	r.writes = append(r.writes, write)
	return err
}

// reservation returns the object of a reservation.
func (r *allocation) reservation(k key, family string) document.Value {
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

// release adds the deletion of a reservation of the service to the writes.
func (r *allocation) release(k key) error {
	there, isOwn, err := r.find(k, watchcache.Latest)
	if err != nil || !isOwn || r.dryRun {
		return err
	}
	r.writes = append(r.writes, storage.Write{Key: k.String(), Expected: there.Revision()})
	return nil
}
