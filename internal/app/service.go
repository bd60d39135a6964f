package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/service"
)

// makeService applies the Service default/kubernetes, through which pods in a cluster reach the API server, as kube-apiserver
// does. It is applied at every start, because the port of the server may have changed. If the apply conflicts with a change
// by a user, the Service is not changed, because the server does not depend on it.
func makeService(ctx context.Context, all *registry.Registry, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return // the server does not listen, or its address has no port
	}
	o := systemWrite{resource: "services", namespace: "default", name: "kubernetes"}
	body := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","labels":{"component":"apiserver","provider":"kubernetes"}},` +
		`"spec":{%s"ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":` + port + `}],"sessionAffinity":"None","type":"ClusterIP"}}`
	o.body = fmt.Sprintf(body, `"clusterIP":`+strconv.Quote(service.DefaultCIDR.Masked().Addr().Next().String())+`,`)
	if err = write(ctx, all, all.Apply, o); err != nil {
		o.body = fmt.Sprintf(body, "") // fails if the first address of the service network is allocated to another Service
		err = write(ctx, all, all.Apply, o)
	}
	if err == nil {
		err = makeSlice(ctx, all, host, port)
	}
	if err != nil {
		all.Log.Warn("applying Service default/kubernetes failed; it does not refer to this server", "error", err)
	}
}

// makeSlice applies the EndpointSlice of the Service default/kubernetes, unless the host is a loopback, unspecified or
// link-local address, which pods could not reach.
func makeSlice(ctx context.Context, all *registry.Registry, host, port string) error {
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() {
		return nil
	}
	family := "IPv6"
	if ip.Unmap().Is4() {
		family = "IPv4"
	}
	return write(ctx, all, all.Apply, systemWrite{
		group: "discovery.k8s.io", resource: "endpointslices", namespace: "default", name: "kubernetes",
		body: fmt.Sprintf(`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"kubernetes","labels":{"kubernetes.io/service-name":"kubernetes"}},`+
			`"addressType":%q,"endpoints":[{"addresses":[%q],"conditions":{"ready":true}}],"ports":[{"name":"https","port":%s,"protocol":"TCP"}]}`,
			family, ip.Unmap(), port),
	})
}
