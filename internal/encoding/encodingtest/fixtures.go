// Package encodingtest provides the test fixtures of k8s.io/api to tests of encodings: for each kind an object in which every
// field is set, as written by the current and by earlier releases.
package encodingtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Dir returns the directory of the fixtures of k8s.io/api. It contains one directory per release; HEAD is the release that
// this module depends on.
var Dir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	return filepath.Join(strings.TrimSpace(string(out)), "testdata"), err
})

// Types returns a scheme with the Go types of every kind of k8s.io/api, including kinds that are not served.
var Types = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, admissionv1.AddToScheme, admissionv1beta1.AddToScheme,
		apidiscoveryv2.AddToScheme, apidiscoveryv2beta1.AddToScheme, imagepolicyv1alpha1.AddToScheme,
	} {
		if err := add(types); err != nil {
			panic(err) // unreachable, because AddToScheme depends on no input
		}
	}
	return types
})

// Fixture is an object in several encodings: JSON, YAML and Protobuf contain the same object.
type Fixture struct {
	schema.GroupVersionKind
	// Type is nil for kinds of earlier releases that k8s.io/api no longer defines.
	Type                 reflect.Type
	JSON, YAML, Protobuf []byte
	// AfterJSON, AfterYAML and AfterProtobuf are the object after a round trip through the Go types of this release. For
	// fixtures of earlier releases they may differ from the object.
	AfterJSON, AfterYAML, AfterProtobuf []byte
}

// headRelease is the name of the directory of this release.
const headRelease = "HEAD"

// watchEvent is the name of the only fixture that is not an API object.
const watchEvent = "core.v1.WatchEvent"

// minFixtures is the minimum number of fixtures that a release must have.
const minFixtures = 150

// Each runs a subtest for each fixture of each release. It fails the test if there are too few fixtures, for instance because
// k8s.io/api has moved them.
func Each(t *testing.T, test func(t *testing.T, f Fixture)) {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	releases, err := filepath.Glob(filepath.Join(dir, "*", "apps.v1.Deployment.json"))
	if err != nil || len(releases) < 2 {
		t.Fatalf("%s contains the fixtures of %d releases (error %v), want those of this release and of earlier releases", dir, len(releases), err)
	}
	for _, release := range releases {
		release = filepath.Dir(release)
		t.Run(filepath.Base(release), func(t *testing.T) { eachOf(t, release, test) })
	}
}

func eachOf(t *testing.T, release string, test func(t *testing.T, f Fixture)) {
	files, err := filepath.Glob(filepath.Join(release, "*.json"))
	if err != nil || len(files) < minFixtures {
		t.Fatalf("%s contains %d fixtures (error %v), want at least %d", release, len(files), err, minFixtures)
	}
	for _, file := range files {
		place := strings.TrimSuffix(file, ".json")
		name := filepath.Base(place)
		if strings.HasSuffix(name, afterSuffix) || name == watchEvent {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := read(t, place)
			if f.Type == nil && filepath.Base(release) == headRelease {
				t.Fatalf("%v: expected a Go type in Types, found none; add its API version to Types", f.GroupVersionKind)
			}
			test(t, f)
		})
	}
}

// afterSuffix is the file name suffix of fixtures after a round trip.
const afterSuffix = ".after_roundtrip"

func read(t *testing.T, place string) (f Fixture) {
	t.Helper()
	for _, form := range []struct {
		ending       string
		sent, answer *[]byte
	}{{".json", &f.JSON, &f.AfterJSON}, {".yaml", &f.YAML, &f.AfterYAML}, {".pb", &f.Protobuf, &f.AfterProtobuf}} {
		var err error
		if *form.sent, err = os.ReadFile(place + form.ending); err != nil {
			t.Fatal(err)
		}
		if *form.answer, err = os.ReadFile(place + afterSuffix + form.ending); err != nil {
			*form.answer = *form.sent
		}
	}
	var is struct{ APIVersion, Kind string }
	if err := json.Unmarshal(f.JSON, &is); err != nil {
		t.Fatal(err)
	}
	f.GroupVersionKind = schema.FromAPIVersionAndKind(is.APIVersion, is.Kind)
	f.Type = Types().KnownTypes(f.GroupVersion())[f.Kind]
	return f
}
