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
func (a *allocation) serviceKey() (namespace, name string) {
	metadata := a.service.Get("metadata")
	return metadata.Get("namespace").Text(), metadata.Get("name").Text()
}

// findReservation returns the reservation with the key k; nil if it does not exist. isOwn reports whether the reservation
// refers to the service.
func (a *allocation) findReservation(k key, f watchcache.Freshness) (found *watchcache.Object, isOwn bool, err error) {
	found, err = a.registry.Cache.Get(a.ctx, k, f)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, registry.StoreError(err)
	}
	parsed, err := found.Parsed()
	if err != nil {
		return nil, false, registry.StoreError(err)
	}
	parent := parsed.Document.Lookup("spec", "parentRef")
	namespace, name := a.serviceKey()
	return found, parent.Get("resource").Text() == "services" && parent.Get("namespace").Text() == namespace && parent.Get("name").Text() == name, nil
}

// reserveKey reserves a requested address or port. It returns errTaken if another service has reserved k, and errOutside if
// isInside is false and the live service does not have the address or port already. If the reservation of the live service is
// missing, reserveKey creates it.
func (a *allocation) reserveKey(k key, errTaken, errOutside error, isInside bool) error {
	if a.reserved[k.String()] {
		return errTaken
	}
	has := slices.Contains(a.current, k)
	if !isInside && !has {
		return errOutside
	}
	there, isOwn, err := a.findReservation(k, watchcache.Latest)
	switch {
	case err != nil:
		return err
	case there != nil && (!isOwn || !has):
		return errTaken
	case there == nil:
		return a.addReservation(k)
	}
	a.reserved[k.String()] = true
	return nil
}

// reserveAddress reserves a requested cluster IP. A dry run only checks that it is in the service network.
func (a *allocation) reserveAddress(address string) error {
	ip, err := netip.ParseAddr(address)
	isInside := err == nil && a.network.Contains(ip) && ip != a.network.Addr() && ip != a.addressAt(a.addressCount()+1)
	if a.dryRun {
		if err != nil || !a.network.Contains(ip) {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", address, a.network)
		}
		return nil
	}
	return a.reserveKey(addressKey(address), errAddressTaken, errAddressOutside, isInside)
}

// reservePort reserves a requested node port. A dry run does not check the range of node ports.
func (a *allocation) reservePort(port int64) error {
	return a.reserveKey(portKey(port), errPortTaken, errPortOutside, a.dryRun || port >= firstPort && port <= lastPort)
}

// allocateAddress reserves a free cluster IP and returns it. A dry run returns the first address of the network, which is never
// allocated.
func (a *allocation) allocateAddress() (string, error) {
	if a.dryRun {
		return a.network.Addr().String(), nil
	}
	size := a.addressCount()
	n, err := allocateFree(size, staticBand(size, 16, 256), func(n int) (bool, error) { return a.isFree(addressKey(a.addressAt(n + 1).String())) })
	if err != nil {
		return "", err
	}
	address := a.addressAt(n + 1).String()
	return address, a.addReservation(addressKey(address))
}

// addressCount returns the number of addresses of the network that can be allocated: all except the first and the last.
func (a *allocation) addressCount() int { return 1<<(32-a.network.Bits()) - 2 }

// addressAt returns the address of the network with index n; index 0 is the network address.
func (a *allocation) addressAt(n int) netip.Addr {
	bytes := a.network.Addr().As4()
	binary.BigEndian.PutUint32(bytes[:], binary.BigEndian.Uint32(bytes[:])+uint32(n))
	return netip.AddrFrom4(bytes)
}

// allocatePort reserves a free node port and returns it. A dry run returns a placeholder above the range of node ports.
func (a *allocation) allocatePort() (int64, error) {
	if a.dryRun {
		a.placeholders++
		return int64(lastPort + 1 + a.placeholders), nil
	}
	const size = lastPort - firstPort + 1
	n, err := allocateFree(size, staticBand(size, 32, 128), func(n int) (bool, error) { return a.isFree(portKey(int64(firstPort + n))) })
	if err != nil {
		return 0, err
	}
	return int64(firstPort + n), a.addReservation(portKey(int64(firstPort + n)))
}

// isFree reports whether no service, including the service to be written, has a reservation with the key k. It reads the watch
// cache, which may be stale; in that case the commit fails with a conflict.
func (a *allocation) isFree(k key) (bool, error) {
	if a.reserved[k.String()] {
		return false, nil
	}
	found, _, err := a.findReservation(k, watchcache.Any)
	return found == nil, err
}

// addReservation adds the creation of a reservation to the writes. In a dry run it only adds the key to reserved.
func (a *allocation) addReservation(k key) error {
	a.reserved[k.String()] = true
	if a.dryRun {
		return nil
	}
	if k.Kind == portKind {
		a.writes = append(a.writes, storage.Write{Key: k.String(), Value: []byte(a.reservation(k, "").JSON())})
		return nil
	}
	kind, _ := a.registry.Kinds.Resource("networking.k8s.io", "v1", "ipaddresses")
	endpoint, err := a.registry.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	write, err := a.registry.PrepareCreation(a.ctx, &registry.Request{
		Endpoint: endpoint, Name: k.Name, User: reservationUser, Manager: reservationManager, Warn: func(string) {},
		Body: registry.Body{Text: a.reservation(k, familyOf(k.Name)).JSON()},
	})
	a.writes = append(a.writes, write)
	return err
}

// reservation returns the object of a reservation. family is the IP family of an IPAddress, and "" for a node port.
func (a *allocation) reservation(k key, family string) document.Value {
	namespace, name := a.serviceKey()
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
func (a *allocation) release(k key) error {
	there, isOwn, err := a.findReservation(k, watchcache.Latest)
	if err != nil || !isOwn || a.dryRun {
		return err
	}
	a.writes = append(a.writes, storage.Write{Key: k.String(), Expected: there.Revision()})
	return nil
}
