package encoding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// testPods returns n typical pods of about 3 KB each.
func testPods(n int) []rawJSON {
	managed := strings.Repeat(`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:name":{}}}}},"manager":"kubelet","operation":"Update"},`, 8)
	pods := make([]rawJSON, n)
	for i := range pods {
		pods[i] = rawJSON(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"creationTimestamp":"1999-12-31T22:00:00Z","labels":{"app":"web"},"managedFields":[%s],"name":"web-%d","namespace":"default","resourceVersion":"%d"},`+
			`"spec":{"containers":[{"env":[%s],"image":"nginx:1","name":"app"}],"nodeName":"n1"},`+
			`"status":{"conditions":[{"status":"True","type":"Initialized"},{"status":"True","type":"Ready"}],"containerStatuses":[{"name":"app","ready":true,"restartCount":0,"state":{"running":{}}}],"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]}}`,
			strings.TrimSuffix(managed, ","), i, i, strings.TrimSuffix(strings.Repeat(`{"name":"A","value":"b"},`, 40), ",")))
	}
	return pods
}

func BenchmarkList(b *testing.B) {
	var pods []Object
	size := 0
	for _, p := range testPods(2000) {
		pods = append(pods, p)
		size += len(p)
	}
	table := tableView("", "Pod", IncludeMetadata)
	for name, v := range map[string]View{
		"whole":   {},
		"partial": {Format: Format{Shape: PartialList}},
		"table":   table,
		"pretty":  {Format: Format{Pretty: true}},
		"yaml":    {Format: Format{Encoding: YAML}},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var buffer []byte
			for b.Loop() {
				out, err := AppendList(buffer[:0], v, List{Kind: "PodList", APIVersion: "v1", ResourceVersion: 1}, slices.Values(pods), nil)
				if err != nil {
					b.Fatal(err)
				}
				buffer = out
			}
		})
	}
}

func BenchmarkNegotiate(b *testing.B) {
	for name, header := range map[string]string{"kubectl": kubectlAccept, "json": "application/json", "typed": "application/vnd.kubernetes.protobuf,application/json"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Negotiate(header, Objects)
			}
		})
	}
}

// BenchmarkEvent encodes a watch event of an object whose encodings are cached, which is the cost of every watch after the
// first one.
func BenchmarkEvent(b *testing.B) {
	o := newEncoded(b)
	for _, e := range []*Encoding{JSON, Protobuf, CBOR} {
		for _, drop := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s drop=%v", e, drop), func(b *testing.B) {
				events, err := NewWatchEncoder(View{Format: Format{Encoding: e, Drop: drop}})
				if err != nil {
					b.Fatal(err)
				}
				o.uses = map[*Encoding]int{}
				buffer := make([]byte, 0, 1024)
				b.ReportAllocs()
				for b.Loop() {
					_, _ = events.Append(buffer, "MODIFIED", o)
				}
			})
		}
	}
}
