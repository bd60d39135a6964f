package defaults

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// TestImages compares the default of imagePullPolicy with kube-apiserver's, for random image references.
func TestImages(t *testing.T) {
	digest := "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	parts := []string{"a", "b1", "A", "latest", ":latest", ":v1", ":", "/", "/", ".", "_", "__", "-", "--", "@", "@" + digest,
		"@sha256:12", "@md5:0123456789abcdef0123456789abcdef", "localhost", "localhost/", "example.org", "example.org/", ":5000/",
		"[::1]", "docker.io/", "index.docker.io/", "library/", strings.Repeat("x", 100), strings.Repeat("ab", 32), " ", "é"}
	k := kindOf(t, "io.k8s.api.core.v1.Pod")
	random := rand.New(rand.NewPCG(*seed, 7))
	for range 10 * *count {
		var image strings.Builder
		for range 1 + random.IntN(5) {
			image.WriteString(parts[random.IntN(len(parts))])
		}
		container := document.NewMap(document.Field{Name: "image", Value: document.NewString(image.String())})
		spec := document.NewMap(document.Field{Name: "containers", Value: document.NewList(container)})
		if !check(t, k, withKindOf(k, document.NewMap(document.Field{Name: "spec", Value: spec})), false) {
			return
		}
	}
}

// largeExponent matches quantities with more characters after the E, without signs and leading zeros, than Cadastre accepts.
var largeExponent = regexp.MustCompile(`[eE][-+0]*[^-+0].{3}`)

// hasLargeExponent reports whether Cadastre rejects the exponent of a quantity, or that of its canonical form.
func hasLargeExponent(text string) bool {
	if largeExponent.MatchString(text) {
		return true // parsing the quantity may be expensive
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && largeExponent.MatchString(q.String())
}

// TestQuantities compares the canonical form of random quantities, and the rejection of invalid ones, with
// kube-apiserver.
func TestQuantities(t *testing.T) {
	parts := []string{"0", "1", "5", "8", "10", "24", "000", "999", "1024", "1000", ".", "+", "-", "m", "u", "n", "k", "M", "G", "T", "P", "E",
		"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e", "e3", "E-3", "e+6", " ", "x"}
	random := rand.New(rand.NewPCG(*seed, 8))
	for _, name := range []string{"io.k8s.api.core.v1.ResourceQuota", "io.k8s.api.storage.v1.CSIStorageCapacity"} {
		k := kindOf(t, name)
		for range 10 * *count {
			var text strings.Builder
			for range 1 + random.IntN(5) {
				text.WriteString(parts[random.IntN(len(parts))])
			}
			if hasLargeExponent(text.String()) {
				continue // docs/differences.md: such quantities are rejected, because they are expensive to parse
			}
			quantity := document.NewString(text.String())
			hard := document.NewMap(document.Field{Name: "cpu", Value: quantity})
			doc := document.NewMap(document.Field{Name: "spec", Value: document.NewMap(document.Field{Name: "hard", Value: hard})})
			if k.GroupVersionKind.Kind == "CSIStorageCapacity" {
				doc = document.NewMap(document.Field{Name: "capacity", Value: quantity})
			}
			check(t, k, withKindOf(k, doc), false)
			if t.Failed() {
				return
			}
		}
	}
}

func kindOf(t *testing.T, name string) kind {
	t.Helper()
	for _, k := range allKinds(t) {
		if k.Type.Name == name {
			return k
		}
	}
	t.Fatalf("unknown kind %s", name)
	return kind{}
}
