package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// hostileNamespace is the namespace in which the hostile user writes.
const hostileNamespace = "hostile"

// attacks maps the name of an attack to one request, or to a part of one. An error ends the connection.
var attacks = map[string]func(c *hostileConn) error{
	"slow-body":   slowBody,
	"unread-list": unreadList,
	"openapi":     openAPI,
	"memory":      memory,
	"numbers":     numbers,
	"watch":       endlessWatch,
	"patch":       invalidPatch,
	"legal":       legal,
}

// slowBody sends a body byte by byte.
func slowBody(c *hostileConn) error {
	if err := c.head("POST", collection(hostileNamespace), "Content-Type: application/json", "Content-Length: 1000"); err != nil {
		return err
	}
	for range 30 {
		if _, err := io.WriteString(c, " "); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	return c.receive("slow body")
}

// unreadList requests a long list and does not read the response.
func unreadList(c *hostileConn) error {
	if err := c.head("GET", collection(hostileNamespace)); err != nil {
		return err
	}
	time.Sleep(time.Duration(c.random.Int64N(int64(30 * time.Second))))
	return io.EOF
}

func openAPI(c *hostileConn) error {
	paths := []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/openapi/v3/api/v1", "/apis", "/api/v1"}
	return c.send("GET", paths[c.random.IntN(len(paths))], "", "")
}

// largest is the maximum size of a body.
const largest = 3<<20 - 1000

// largeBodies are requests whose bodies cost the server much memory: many small values, many fields with owners, deep nesting, aliases. The
// dry runs are legal.
var largeBodies = []func() (method, path, mediaType, body string){
	func() (string, string, string, string) { // empty containers
		return "POST", pods(), "application/json", pod(strings.Repeat("{},", largest/3))
	},
	func() (string, string, string, string) { // valid containers
		var b strings.Builder
		for i := 0; b.Len() < largest/2; i++ {
			fmt.Fprintf(&b, `{"name":"c%d","image":"i"},`, i)
		}
		return "POST", pods(), "application/json", pod(b.String())
	},
	func() (string, string, string, string) { // fields with an owner each
		return "PATCH", collection(hostileNamespace) + "/large?dryRun=All&fieldManager=m&force=true", "application/apply-patch+yaml", manyKeys("large")
	},
	func() (string, string, string, string) {
		return "PATCH", collection(hostileNamespace) + "/large-0?dryRun=All", "application/strategic-merge-patch+json", manyKeys("large-0")
	},
	func() (string, string, string, string) { // operations
		return "PATCH", collection(hostileNamespace) + "/large-0?dryRun=All", "application/json-patch+json",
			"[" + strings.Repeat(`{"op":"add","path":"/data/b","value":""},`, 9999) + `{"op":"remove","path":"/data/b"}]`
	},
	func() (string, string, string, string) { // nesting
		return "POST", collection(hostileNamespace) + "?dryRun=All", "application/json", strings.Repeat(`{"a":`, largest/6) + "1" + strings.Repeat("}", largest/6)
	},
	func() (string, string, string, string) { // values in YAML
		return "POST", collection(hostileNamespace) + "?dryRun=All", "application/yaml", "data:\n" + strings.Repeat("- a\n", largest/4-10)
	},
	func() (string, string, string, string) { // large values, legal
		return "POST", collection(hostileNamespace) + "?dryRun=All", "application/json",
			fmt.Sprintf(`{"metadata":{"generateName":"x-"},"data":{"a":%q}}`, strings.Repeat("y", 1000<<10))
	},
}

func pods() string { return "/api/v1/namespaces/" + hostileNamespace + "/pods?dryRun=All" }

func pod(containers string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-"},"spec":{"containers":[` + strings.TrimSuffix(containers, ",") + "]}}"
}

// manyKeys returns a ConfigMap with 50,000 small fields.
func manyKeys(name string) string {
	var b strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&b, `"k%d":"",`, i)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%s}}`, name, strings.TrimSuffix(b.String(), ","))
}

// largeRequest is a request of largeBodies.
type largeRequest struct{ method, path, mediaType, body string }

// largeRequests builds the requests once, because all connections share their text.
var largeRequests = sync.OnceValue(func() (all []largeRequest) {
	for _, build := range largeBodies {
		method, path, mediaType, body := build()
		all = append(all, largeRequest{method, path, mediaType, body})
	}
	return all
})

// memory sends a body that costs the server much memory.
func memory(c *hostileConn) error {
	r := largeRequests()[c.random.IntN(len(largeBodies))]
	return c.send(r.method, r.path, r.mediaType, r.body)
}

// numbers sends numbers that clients cannot decode, and other odd values.
func numbers(c *hostileConn) error {
	odd := []string{"1e400", strings.Repeat("9", 400), "-0", "1e-400", "null", "{}", `"\u0000"`, "[[[[1]]]]", "1E+999999999"}
	value := odd[c.random.IntN(len(odd))]
	return c.send("POST", "/api/v1/namespaces/"+hostileNamespace+"/services?dryRun=All", "application/json", fmt.Sprintf(
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"odd","annotations":{"a":%s}},"spec":{"ports":[{"port":%s}],"healthCheckNodePort":%s}}`, value, value, value))
}

// endlessWatch opens a watch and drops it.
func endlessWatch(c *hostileConn) error {
	if err := c.head("GET", collection("soak-0")+"?watch=true&resourceVersion=0"); err != nil {
		return err
	}
	time.Sleep(time.Duration(c.random.Int64N(int64(5 * time.Second))))
	return io.EOF
}

// invalidPatch sends a patch that the server must reject.
func invalidPatch(c *hostileConn) error {
	patches := [][2]string{
		{"application/json-patch+json", `[{"op":"move","from":"/data","path":"/data/a/b"}]`},
		{"application/json-patch+json", `[{"op":"copy","from":"/metadata","path":"/data"}]`},
		{"application/json-patch+json", `{"op":1}`},
		{"application/merge-patch+json", `[]`},
		{"application/merge-patch+json", `{"metadata":null}`},
		{"application/strategic-merge-patch+json", `{"$patch":"x","data":{"$retainKeys":[1]}}`},
		{"application/strategic-merge-patch+json", `{"metadata":{"$setElementOrder/ownerReferences":[{}],"ownerReferences":[{"$patch":"delete"}]}}`},
		{"application/apply-patch+yaml", "a: &a [*a]"},
		{"application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-0","managedFields":[{"fieldsV1":{"f:":{"k:{":1}}}]}}`},
		{"application/apply-patch+cbor", "\xd9\xd9\xf7\xbf\x41\xff"},
		{"text/plain", "x"},
	}
	p := patches[c.random.IntN(len(patches))]
	return c.send("PATCH", collection(hostileNamespace)+"/large-0?fieldManager=m", p[0], p[1])
}

// legal sends a request that the server should answer.
func legal(c *hostileConn) error {
	name := fmt.Sprintf("legal-%d", c.random.IntN(30))
	switch c.random.IntN(7) {
	case 0:
		return c.send("GET", collection(hostileNamespace)+"?labelSelector=a+notin+(b,c),d&fieldSelector=metadata.name%3D"+name, "", "")
	case 1:
		return c.send("GET", "/api/v1/configmaps?limit=3", "", "")
	case 2:
		return c.send("DELETE", collection(hostileNamespace)+"/"+name, "", "")
	case 3:
		return c.send("POST", collection(hostileNamespace), "application/json", fmt.Sprintf(`{"metadata":{"name":%q},"data":{"a":"b"}}`, name))
	case 4:
		return c.send("GET", collection(hostileNamespace)+"?continue="+name, "", "")
	case 5:
		return c.send("GET", "/apis/apps/v1/deployments?resourceVersion=1&resourceVersionMatch=Exact&limit=1", "", "")
	default:
		return c.send("PATCH", collection(hostileNamespace)+"/"+name+"?force=true&fieldManager=m"+name, "application/apply-patch+yaml",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"a":"x%d"}}}`, name, c.random.IntN(1000)))
	}
}
