package fieldset

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Each benchmark measures this package and structured-merge-diff in the same run, so the results are comparable on any
// machine.

func BenchmarkParseFieldsV1(b *testing.B) {
	text := deployment("app")
	b.Run("cadastre", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseFieldsV1(text); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)), "ns/byte")
	})
	b.Run("upstream", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if err := new(fieldpath.Set).FromJSON(strings.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendFieldsV1(b *testing.B) {
	text := deployment("app")
	ours, upstream := mustParse(b, text), mustParseUpstream(b, text)
	b.Run("cadastre", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		buffer := make([]byte, 0, len(text))
		for b.Loop() {
			buffer = ours.AppendFieldsV1(buffer[:0])
		}
	})
	b.Run("upstream", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := upstream.ToJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUnion(b *testing.B) {
	benchmarkPair(b, Set.Union, (*fieldpath.Set).Union)
}

func BenchmarkDifference(b *testing.B) {
	benchmarkPair(b, Set.Difference, (*fieldpath.Set).Difference)
}

// benchmarkPair measures an operation on two sets that have about half of their paths in common.
func benchmarkPair(b *testing.B, ours func(s, other Set) Set, upstream func(s, other *fieldpath.Set) *fieldpath.Set) {
	text, otherText := deployment("app"), deployment("sidecar")
	b.Run("cadastre", func(b *testing.B) {
		s, other := mustParse(b, text), mustParse(b, otherText)
		b.ReportAllocs()
		for b.Loop() {
			ours(s, other)
		}
	})
	b.Run("upstream", func(b *testing.B) {
		s, other := mustParseUpstream(b, text), mustParseUpstream(b, otherText)
		b.ReportAllocs()
		for b.Loop() {
			upstream(s, other)
		}
	})
}

// deployment returns the FieldsV1, about 6 KB, of a field manager that applies a Deployment with a few containers;
// container is the name of its first container.
func deployment(container string) string {
	leaves := func(names ...string) string {
		return `"f:` + strings.Join(names, `":{},"f:`) + `":{}`
	}
	keyed := func(body string, keys ...string) string {
		var items []string
		for _, key := range keys {
			items = append(items, fmt.Sprintf(`"k:{%s}":{".":{},%s}`, key, body))
		}
		return strings.Join(items, ",")
	}
	named := func(names ...string) []string {
		for i, name := range names {
			names[i] = fmt.Sprintf(`\"name\":\"%s\"`, name)
		}
		return names
	}
	probe := `{"f:failureThreshold":{},"f:httpGet":{".":{},` + leaves("path", "port", "scheme") + `},` +
		leaves("initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds") + `}`
	body := `"f:args":{},"f:env":{".":{},` + keyed(leaves("name", "value"), named("CACHE_SIZE", "DATABASE_URL", "LOG_LEVEL", "REGION")...) + `},` +
		leaves("image", "imagePullPolicy") + `,"f:livenessProbe":` + probe + `,"f:name":{},"f:ports":{".":{},` +
		keyed(leaves("containerPort", "name", "protocol"), `\"containerPort\":8080,\"protocol\":\"TCP\"`, `\"containerPort\":9090,\"protocol\":\"TCP\"`) +
		`},"f:readinessProbe":` + probe + `,"f:resources":{".":{},"f:limits":{".":{},` + leaves("cpu", "memory") + `},"f:requests":{".":{},` + leaves("cpu", "memory") +
		`}},"f:securityContext":{".":{},` + leaves("allowPrivilegeEscalation", "readOnlyRootFilesystem") + `},` +
		leaves("terminationMessagePath", "terminationMessagePolicy") + `,"f:volumeMounts":{".":{},` +
		keyed(leaves("mountPath", "name", "readOnly"), `\"mountPath\":\"/etc/config\"`, `\"mountPath\":\"/var/cache\"`, `\"mountPath\":\"/var/run/secrets\"`) + `}`
	return `{"f:metadata":{"f:annotations":{".":{},` + leaves("deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration") +
		`},"f:finalizers":{".":{},"v:\"example.com/cleanup\"":{},"v:\"example.com/protect\"":{}},"f:labels":{".":{},` +
		leaves("app", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version") +
		`}},"f:spec":{` + leaves("minReadySeconds", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit", "selector") +
		`,"f:strategy":{"f:rollingUpdate":{".":{},` + leaves("maxSurge", "maxUnavailable") + `},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},` +
		leaves("app", "tier") + `}},"f:spec":{"f:containers":{` + keyed(body, named(container, "proxy", "shipper")...) +
		`},` + leaves("dnsPolicy", "restartPolicy", "schedulerName", "securityContext", "serviceAccountName", "terminationGracePeriodSeconds") +
		`,"f:volumes":{".":{},` + keyed(`"f:configMap":{".":{},`+leaves("defaultMode", "name")+`},"f:name":{}`, named("config", "credentials")...) + `}}}}}`
}
