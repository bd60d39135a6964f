package builtin

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

func TestDefault(t *testing.T) {
	for _, test := range []struct{ of, in, want string }{
		{"apps.v1.DeploymentStrategy", `{}`, `{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}`},
		{"apps.v1.DeploymentStrategy", `{"type":"Recreate"}`, `{"type":"Recreate"}`},
		{"apps.v1.DeploymentStrategy", `{"type":"","rollingUpdate":{"maxSurge":0}}`, `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"25%"},"type":"RollingUpdate"}`},
		{"core.v1.ContainerPort", `{"containerPort":1,"protocol":""}`, `{"containerPort":1,"protocol":"TCP"}`},
		{"core.v1.Volume", `{"name":"a"}`, `{"emptyDir":{},"name":"a"}`},
		{"core.v1.Volume", `{"name":"a","hostPath":{"path":"/"}}`, `{"hostPath":{"path":"/","type":""},"name":"a"}`},
		{"core.v1.LocalObjectReference", `{}`, `{}`},
		{"core.v1.Secret", `{"metadata":{},"stringData":{"a":"b"},"data":{"a":"eA==","c":"eA=="}}`, `{"data":{"a":"Yg==","c":"eA=="},"metadata":{},"type":"Opaque"}`},
		{"core.v1.Namespace", `{"metadata":{"name":"a"},"spec":{}}`, `{"metadata":{"labels":{"kubernetes.io/metadata.name":"a"},"name":"a"},"spec":{},"status":{"phase":"Active"}}`},
		{"policy.v1.PodDisruptionBudgetStatus", `{}`, `{"currentHealthy":0,"desiredHealthy":0,"disruptionsAllowed":0,"expectedPods":0}`},
		{"rbac.v1.ClusterRole", `{}`, `{"metadata":{},"rules":null}`},
	} {
		of := mustType(t, test.of)
		if got := of.Default(parse(t, test.in)); got.JSON() != test.want {
			t.Errorf("Default() of %s %s\nwant %s\ngot  %v", test.of, test.in, test.want, got)
		} else {
			requireIdempotent(t, of, got)
		}
	}
}

func TestDefaultNow(t *testing.T) {
	got := mustType(t, "resource.v1.DeviceTaint").Default(parse(t, `{"key":"a","effect":"b"}`))
	at, err := time.Parse(time.RFC3339, got.Get("timeAdded").Text())
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("timeAdded = %v, %v, want the current time", got, err)
	}
}

func TestHasLatestTag(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a1", 32)
	for image, want := range map[string]bool{
		"nginx": true, "nginx:latest": true, "nginx:1.25": false, "nginx" + digest: false, "nginx:latest" + digest: true,
		"nginx:latest@sha256:12": false, "example.org:5000/a": true, "example.org:5000/a:b": false, "localhost/a/b__c-d.e": true,
		"": false, "Nginx": false, "a/Nginx": false, "Example/nginx": true, "a//b": false, "a b": false, "a___b": false, "a..b": false,
		"[::1]:80/a": true, "-x.org/a": false, strings.Repeat("a1", 32): false, strings.Repeat("a", 300): false, "x.org:/a": false,
	} {
		if got := hasLatestTag(image); got != want {
			t.Errorf("hasLatestTag(%q) = %v, want %v", image, got, want)
		}
	}
}

func TestIsCanonicalQuantity(t *testing.T) {
	numbers := []string{"", "0", "1", "7", "8", "10", "64", "100", "128", "999", "1000", "1024", "1500", "2000", "2048", "10240", "99999", "100000", "01", "1.5", "-1"}
	for _, number := range numbers {
		for _, suffix := range []string{"", "m", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "n", "e3", "x"} {
			text := number + suffix
			q, err := resource.ParseQuantity(text)
			if isCanonicalQuantity(text) && (err != nil || q.String() != text) {
				t.Errorf("isCanonicalQuantity(%q) = true, want false: ParseQuantity returns %q and error %v", text, q.String(), err)
			}
		}
	}
	for _, common := range []string{"0", "1", "100m", "500m", "64Mi", "128Mi", "256Mi", "1Gi", "8Gi", "110"} {
		if !isCanonicalQuantity(common) {
			t.Errorf("isCanonicalQuantity(%q) = false, want true", common)
		}
	}
}

func TestInvalidDefaultRules(t *testing.T) {
	for _, text := range []string{
		"core.v1.Nothing\n\timage = a",
		"\n\timage = a",
		"core.v1.Container\n\tnothing = 1",
		"core.v1.Container\n\timage",
		"core.v1.Container\n\timage is 1",
		"core.v1.Container\n\timage =",
		"core.v1.Container\n\timage = {",
		"core.v1.Container\n\timage = a if b",
		"core.v1.Container\n\timage = a when b",
		"core.v1.Container\n\timage = a when name is set or",
		"core.v1.Container\n\timage = a when name is set and",
		"core.v1.Container\n\timage = from nothing",
		"core.v1.Container\n\timage += name",
		"core.v1.Container\n\timage[].x = 1",
		"core.v1.Container\n\tports[].nothing = 1",
		"core.v1.Container\n\tports[].name = from .nothing",
		"core.v1.Container\n\tgo nothing",
	} {
		types, err := readTable()
		if err != nil {
			t.Fatal(err)
		}
		if err := types.readDefaults(newTypeFile(t, "defaults", text)); err == nil || !strings.HasPrefix(err.Error(), "types/test.type:") {
			t.Errorf("error of %q = %v, want an error with file and line", text, err)
		}
	}
}

// newTypeFile returns a set that consists of one type file with one section. The first line of text contains the names of the
// type's structs; the remaining lines are the content of the section.
func newTypeFile(t *testing.T, section, text string) *kinds.Set {
	t.Helper()
	structs, rules, _ := strings.Cut(text, "\n")
	if structs != "" {
		structs = "    structs: " + structs + "\n"
	}
	content := "type Test\n" + structs + "    " + section + ":\n" + strings.ReplaceAll(rules, "\t", "        ") + "\n"
	set, err := kinds.Read(fstest.MapFS{"types/test.type": {Data: []byte(content)}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
