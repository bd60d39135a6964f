package app

import (
	"net"
	"strings"
	"testing"
)

const (
	services    = "/api/v1/namespaces/default/services"
	ipAddresses = "/apis/networking.k8s.io/v1/ipaddresses"
)

func serviceBody(name, spec string) string {
	return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
}

// TestServiceAddresses checks that a Service gets a cluster IP, retains it in updates, and releases it when it is deleted or
// its type becomes ExternalName.
func TestServiceAddresses(t *testing.T) {
	c := start(t, Config{})
	created := c.call("POST", services, serviceBody("web", `"ports":[{"port":80}]`)).want(201, `"ipFamilies":["IPv4"]`, `"ipFamilyPolicy":"SingleStack"`)
	address := created.get("spec", "clusterIP")
	if !strings.HasPrefix(address, "10.") || created.get("spec", "clusterIPs", 0) != address {
		t.Fatalf("created Service: received %s, want a clusterIP in 10.0.0.0/8 that is also in clusterIPs", created.text)
	}
	if strings.Contains(created.text, "f:clusterIP") {
		t.Errorf("the allocated fields have a field manager: %s", created.text)
	}
	reservation := c.call("GET", ipAddresses+"/"+address, "").want(200, `"ipaddress.kubernetes.io/ip-family":"IPv4"`, `"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"`)
	if got := reservation.get("spec", "parentRef"); got != `{"name":"web","namespace":"default","resource":"services"}` {
		t.Errorf("parentRef of the IPAddress: received %s, want the Service default/web", got)
	}
	c.call("POST", services, serviceBody("thief", `"clusterIP":"`+address+`","ports":[{"port":80}]`)).
		want(422, `spec.clusterIPs: Invalid value: [\"`+address+`\"]: failed to allocate IP `+address+`: provided IP is already allocated`)
	c.call("POST", services, serviceBody("far", `"clusterIP":"192.168.0.1","ports":[{"port":80}]`)).
		want(422, `failed to allocate IP 192.168.0.1: the provided network does not match the current range`)

	put := c.call("PUT", services+"/web", serviceBody("web", `"ports":[{"port":81}]`)).want(200)
	if put.get("spec", "clusterIP") != address {
		t.Errorf("clusterIP after an update that omits it: received %s, want it unchanged", put.text)
	}
	revision := put.get("metadata", "resourceVersion")
	if again := c.call("PUT", services+"/web", serviceBody("web", `"ports":[{"port":81}]`)).want(200); again.get("metadata", "resourceVersion") != revision {
		t.Errorf("resourceVersion after a no-op update: received %s, want %s", again.get("metadata", "resourceVersion"), revision)
	}
	c.call("PATCH", services+"/web", `{"spec":{"type":"ExternalName","externalName":"a.b"}}`, "Content-Type: "+mergeType).want(200)
	c.call("GET", ipAddresses+"/"+address, "").want(404)
	c.call("POST", services, serviceBody("thief", `"clusterIP":"`+address+`","ports":[{"port":80}]`)).want(201)
	c.call("DELETE", services+"/thief", "").want(200)
	c.call("GET", ipAddresses+"/"+address, "").want(404)
}

// TestServiceFamilies checks the IP families of headless and ExternalName Services, and that IPv6 is rejected.
func TestServiceFamilies(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", services, serviceBody("h", `"clusterIP":"None","selector":{"a":"b"}`)).want(201, `"clusterIPs":["None"]`, `"ipFamilies":["IPv4"]`, `"ipFamilyPolicy":"SingleStack"`)
	c.call("POST", services, serviceBody("anywhere", `"clusterIP":"None"`)).want(201, `"ipFamilies":["IPv4","IPv6"]`, `"ipFamilyPolicy":"RequireDualStack"`)
	if e := c.call("POST", services, serviceBody("e", `"type":"ExternalName","externalName":"a.b"`)).want(201); e.get("spec", "clusterIPs") != "" || e.get("spec", "ipFamilies") != "" {
		t.Errorf("ExternalName Service: received %s, want no clusterIPs and no ipFamilies", e.text)
	}
	c.call("POST", services, serviceBody("six", `"ipFamilies":["IPv6"],"ports":[{"port":80}]`)).want(422, `spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster`)
	c.call("POST", services, serviceBody("six", `"clusterIP":"fd00::1","ports":[{"port":80}]`)).want(422, `spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster`)
	c.call("POST", services, serviceBody("two", `"ipFamilyPolicy":"RequireDualStack","ports":[{"port":80}]`)).want(422, `this cluster is not configured for dual-stack services`)
	c.call("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "").want(200, `"cidrs":["10.96.0.0/12"]`, `"type":"Ready"`)
	if list := c.call("GET", ipAddresses, "").want(200, ownAddress); list.get("items", 1) != "" {
		t.Errorf("IPAddresses: received %s, want only that of the Service default/kubernetes", list.text)
	}
}

// TestNodePorts checks that node ports are allocated to a Service, retained in updates, and released.
func TestNodePorts(t *testing.T) {
	c := start(t, Config{})
	created := c.call("POST", services, serviceBody("n", `"type":"NodePort","ports":[{"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"},{"name":"fix","port":80,"nodePort":30005}]`)).want(201)
	tcp := created.get("spec", "ports", 0, "nodePort")
	if len(tcp) != 5 || tcp != created.get("spec", "ports", 1, "nodePort") {
		t.Errorf("created Service: received %s, want one node port for both protocols of port 53", created.text)
	}
	put := c.call("PUT", services+"/n", serviceBody("n", `"type":"NodePort","ports":[{"name":"t","port":54},{"name":"new","port":55}]`)).want(200)
	if put.get("spec", "ports", 0, "nodePort") != tcp || len(put.get("spec", "ports", 1, "nodePort")) != 5 {
		t.Errorf("updated Service: received %s, want the node port kept and one allocated for the new port", put.text)
	}
	withNodePort := func(port string) string { return `"type":"NodePort","ports":[{"port":80,"nodePort":` + port + `}]` }
	c.call("POST", services, serviceBody("o", withNodePort(tcp))).want(422, `spec.ports[0].nodePort: Invalid value: `+tcp+`: provided port is already allocated`)
	c.call("POST", services, serviceBody("o", withNodePort("80"))).want(422, `provided port is not in the valid range. The range of valid ports is 30000-32767`)
	c.call("POST", services, serviceBody("o", withNodePort("30005"))).want(201) // the update above released this node port
	c.call("PATCH", services+"/n", `{"spec":{"type":"ClusterIP"}}`, "Content-Type: "+mergeType).want(200)
	c.call("POST", services, serviceBody("p", withNodePort(tcp))).want(201)

	balanced := c.call("POST", services, serviceBody("l", `"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}]`)).want(201)
	health := balanced.get("spec", "healthCheckNodePort")
	c.call("POST", services, serviceBody("q", withNodePort(health))).want(422, "already allocated")
	c.call("DELETE", services+"/l", "").want(200)
	c.call("POST", services, serviceBody("q", withNodePort(health))).want(201)
	if none := c.call("POST", services, serviceBody("none", `"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]`)).want(201); none.get("spec", "ports", 0, "nodePort") != "" {
		t.Errorf("Service with allocateLoadBalancerNodePorts=false: received %s, want no nodePort", none.text)
	}
}

// ownAddress is the JSON name of the IPAddress of the Service default/kubernetes.
const ownAddress = `"name":"10.96.0.1"`

// TestKubernetesService checks that the Service default/kubernetes has the port of the server after a restart with another port, and
// that the server does not overwrite changes by users.
func TestKubernetesService(t *testing.T) {
	config := Config{Folder: t.TempDir()}
	var before *testResponse
	t.Run("first", func(t *testing.T) {
		c := start(t, config)
		before = c.call("GET", services+"/kubernetes", "").want(200, `"clusterIP":"10.96.0.1"`, `"targetPort":`+c.port(), `"component":"apiserver"`, `"name":"https"`, `"port":443`)
		c.call("GET", ipAddresses+"/10.96.0.1", "").want(200, `"name":"kubernetes"`)
		// A server that listens on a loopback address has no EndpointSlice.
		if list := c.call("GET", "/apis/discovery.k8s.io/v1/endpointslices", "").want(200); list.get("items", 0) != "" {
			t.Errorf("EndpointSlices: received %s, want none", list.text)
		}
	})
	t.Run("again", func(t *testing.T) {
		c := start(t, config)
		again := c.call("GET", services+"/kubernetes", "").want(200, `"clusterIP":"10.96.0.1"`, `"targetPort":`+c.port())
		if again.get("metadata", "uid") != before.get("metadata", "uid") {
			t.Errorf("Service default/kubernetes after a restart: received %s, want an unchanged uid", again.text)
		}
		c.call("DELETE", services+"/kubernetes", "").want(200)
		c.call("POST", services, serviceBody("first", `"clusterIP":"10.96.0.1","ports":[{"port":80}]`)).want(201)
	})
	t.Run("its address is taken", func(t *testing.T) {
		c := start(t, config)
		if other := c.call("GET", services+"/kubernetes", "").want(200, `"targetPort":`+c.port()).get("spec", "clusterIP"); other == "10.96.0.1" || other == "" {
			t.Errorf("clusterIP of default/kubernetes, whose address is taken: received %q, want another address", other)
		}
		c.call("DELETE", services+"/kubernetes", "").want(200)
		c.call("POST", services, serviceBody("kubernetes", `"type":"ExternalName","externalName":"example.org"`)).want(201)
	})
	t.Run("it is something else", func(t *testing.T) {
		start(t, config).call("GET", services+"/kubernetes", "").want(200)
	})
}

// TestKubernetesEndpointSlice checks the EndpointSlice of default/kubernetes for servers with a routable address.
func TestKubernetesEndpointSlice(t *testing.T) {
	c := start(t, Config{})
	all := c.server.handler.Objects
	for address, want := range map[string]string{"192.0.2.7:6443": `"IPv4"`, "[2001:db8::7]:6443": `"IPv6"`} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c.call("DELETE", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "").want(200)
		makeService(t.Context(), all, tcp.String())
		c.call("GET", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", "").
			want(200, `"addressType":`+want, tcp.IP.String(), `"kubernetes.io/service-name":"kubernetes"`, `"name":"https"`, `"port":6443`, `"ready":true`)
	}
	c.call("GET", services+"/kubernetes", "").want(200, `"targetPort":6443`)
}

// TestServiceDryRun checks that a dry run returns an address and node ports without allocating them.
func TestServiceDryRun(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", services+"?dryRun=All", serviceBody("d", `"type":"NodePort","ports":[{"port":80}]`)).want(201, `"clusterIP":"10.96.0.0"`, `"nodePort":32769`)
	if list := c.call("GET", ipAddresses, "").want(200, ownAddress); list.get("items", 1) != "" {
		t.Errorf("IPAddresses after a dry run: received %s, want only that of default/kubernetes", list.text)
	}
	created := c.call("POST", services, serviceBody("d", `"type":"NodePort","ports":[{"port":80}]`)).want(201)
	c.call("DELETE", services+"/d?dryRun=All", "").want(200)
	c.call("GET", ipAddresses+"/"+created.get("spec", "clusterIP"), "").want(200)
}

// TestAddressesAfterRestart checks that allocated addresses survive a restart, and that the next write of a Service recreates
// its IPAddress if the IPAddress was deleted.
func TestAddressesAfterRestart(t *testing.T) {
	config := Config{Folder: t.TempDir()}
	var address string
	t.Run("first", func(t *testing.T) {
		address = start(t, config).call("POST", services, serviceBody("web", `"ports":[{"port":80}]`)).want(201).get("spec", "clusterIP")
	})
	c := start(t, config)
	c.call("POST", services, serviceBody("thief", `"clusterIP":"`+address+`","ports":[{"port":80}]`)).want(422)
	c.call("DELETE", ipAddresses+"/"+address, "").want(200)
	c.call("PATCH", services+"/web", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+mergeType).want(200)
	c.call("GET", ipAddresses+"/"+address, "").want(200)
}
