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

// The resources of reservations, in the form GROUP/RESOURCE of watch cache keys.
const (
	// addressKind is the resource for cluster IPs.
	addressKind = "networking.k8s.io/ipaddresses"
	// portKind is the resource for node ports. It is internal: the API does not serve it.
	portKind = "cadastre/nodeports"
)

// firstPort and lastPort limit the range of node ports, inclusively.
const firstPort, lastPort = 30000, 32767

// reservationUser and reservationManager are the user and the field manager that create reservations.
var reservationUser = &authn.User{Name: "system:apiserver"}

const reservationManager = "cadastre"

// The errors for requested addresses and ports that are reserved already (Taken) or not in the range (Outside). The messages
// are those of Kubernetes.
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

// allocation is the state of Strategy.Allocate for one write of a service.
type allocation struct {
	ctx      context.Context
	registry *registry.Registry
	network  netip.Prefix
	service  document.Value
	dryRun   bool
	// current holds the keys of the live service's reservations.
	current []key
	// reserved holds the keys of the reservations of the service to be written.
	reserved map[string]bool
	// placeholders is the number of invalid ports that a dry run has assigned instead of free ports.
	placeholders int
	// writes create and delete reservations.
	writes []storage.Write
}

// serviceKey returns the namespace and name of the service, by which a reservation refers to it.
func (r *allocation) serviceKey() (namespace, name string) {
	metadata := r.service.Get("metadata")
	return metadata.Get("namespace").Text(), metadata.Get("name").Text()
}

// findReservation returns the reservation with the key k; nil if it does not exist. isOwn reports whether the reservation
// refers to the service.
func (r *allocation) findReservation(k key, f watchcache.Freshness) (there *watchcache.Object, isOwn bool, err error) {
	there, err = r.registry.Cache.Get(r.ctx, k, f)
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
	namespace, name := r.serviceKey()
	return there, parent.Get("resource").Text() == "services" && parent.Get("namespace").Text() == namespace && parent.Get("name").Text() == name, nil
}

// reserveKey reserves a requested address or port. It returns errTaken if another service has reserved the address or port, and
// errOutside if isInside is false and the live service does not have that address or port. If the reservation of the live service
// is missing, reserveKey creates it.
func (r *allocation) reserveKey(k key, errTaken, errOutside error, isInside bool) error {
	if r.reserved[k.String()] {
		return errTaken
	}
	has := slices.Contains(r.current, k)
	if !isInside && !has {
		return errOutside
	}
	there, isOwn, err := r.findReservation(k, watchcache.Latest)
	switch {
	case err != nil:
		return err
	case there != nil && (!isOwn || !has):
		return errTaken
	case there == nil:
		return r.addReservation(k)
	}
	r.reserved[k.String()] = true
	return nil
}

// reserveAddress reserves a requested cluster IP. A dry run only checks that it is in the service network.
func (r *allocation) reserveAddress(address string) error {
	ip, err := netip.ParseAddr(address)
	isInside := err == nil && r.network.Contains(ip) && ip != r.network.Addr() && ip != r.addressAt(r.addressCount()+1)
	if r.dryRun {
		if err != nil || !r.network.Contains(ip) {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", address, r.network)
		}
		return nil
	}
	return r.reserveKey(addressKey(address), errAddressTaken, errAddressOutside, isInside)
}

// reservePort reserves a requested node port. A dry run does not check the range of node ports.
func (r *allocation) reservePort(port int64) error {
	return r.reserveKey(portKey(port), errPortTaken, errPortOutside, r.dryRun || port >= firstPort && port <= lastPort)
}

// allocateAddress reserves a free cluster IP and returns it. A dry run returns the first address of the network, which is never
// allocated.
func (r *allocation) allocateAddress() (string, error) {
	if r.dryRun {
		return r.network.Addr().String(), nil
	}
	size := r.addressCount()
	n, err := allocateFree(size, staticBand(size, 16, 256), func(n int) (bool, error) { return r.isFree(addressKey(r.addressAt(n + 1).String())) })
	if err != nil {
		return "", err
	}
	address := r.addressAt(n + 1).String()
	return address, r.addReservation(addressKey(address))
}

// addressCount returns the number of addresses of the network that can be allocated: all except the first and the last.
func (r *allocation) addressCount() int { return 1<<(32-r.network.Bits()) - 2 }

// addressAt returns the address of the network with index n; index 0 is the network address.
func (r *allocation) addressAt(n int) netip.Addr {
	bytes := r.network.Addr().As4()
	binary.BigEndian.PutUint32(bytes[:], binary.BigEndian.Uint32(bytes[:])+uint32(n))
	return netip.AddrFrom4(bytes)
}

// allocatePort reserves a free node port and returns it. A dry run returns a placeholder above the range of node ports.
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
	return int64(firstPort + n), r.addReservation(portKey(int64(firstPort + n)))
}

// isFree reports whether no service, including the service to be written, has a reservation with the key k. It reads the watch
// cache, which may be stale; in that case the commit fails with a conflict.
func (r *allocation) isFree(k key) (bool, error) {
	if r.reserved[k.String()] {
		return false, nil
	}
	there, _, err := r.findReservation(k, watchcache.Any)
	return there == nil, err
}

// addReservation adds the creation of a reservation to the writes. In a dry run it only remembers the key.
func (r *allocation) addReservation(k key) error {
	r.reserved[k.String()] = true
	if r.dryRun {
		return nil
	}
	if k.Kind == portKind {
		r.writes = append(r.writes, storage.Write{Key: k.String(), Value: []byte(r.reservation(k, "").JSON())})
		return nil
	}
	kind, _ := r.registry.Kinds.Resource("networking.k8s.io", "v1", "ipaddresses")
	endpoint, err := r.registry.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	write, err := r.registry.PrepareCreation(r.ctx, &registry.Request{
		Endpoint: endpoint, Name: k.Name, User: reservationUser, Manager: reservationManager, Warn: func(string) {},
		Body: registry.Body{Text: r.reservation(k, familyOf(k.Name)).JSON()},
	})
	r.writes = append(r.writes, write)
	return err
}

// reservation returns the object of a reservation. family is the IP family of an IPAddress, and "" for a node port.
func (r *allocation) reservation(k key, family string) document.Value {
	namespace, name := r.serviceKey()
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

// release adds the deletion of the reservation with the key k to the writes, if the reservation exists and refers to the
// service. A dry run adds nothing.
func (r *allocation) release(k key) error {
	there, isOwn, err := r.findReservation(k, watchcache.Latest)
	if err != nil || !isOwn || r.dryRun {
		return err
	}
	r.writes = append(r.writes, storage.Write{Key: k.String(), Expected: there.Revision()})
	return nil
}
