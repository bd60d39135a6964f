package discovery

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestMarkers(t *testing.T) {
	m, err := parseMarkers(markersText)
	if err != nil {
		t.Fatal(err)
	}
	service := reflect.TypeFor[corev1.ServiceSpec]()
	if got := m.ofField(service, "ports"); got.listType != "map" || strings.Join(got.listKeys, " ") != "port protocol" {
		t.Errorf("markers of ServiceSpec.ports = %+v, want list type map with the keys port and protocol", got)
	}
	if got := m.ofField(service, "selector"); got.mapType != "atomic" {
		t.Errorf("markers of ServiceSpec.selector = %+v, want map type atomic", got)
	}
	if got := m.ofField(reflect.TypeFor[corev1.ServicePort](), "protocol"); got.defaultValue != "TCP" {
		t.Errorf("markers of ServicePort.protocol = %+v, want default TCP", got)
	}
	if got := m.ofType(reflect.TypeFor[corev1.Protocol]()); len(got.enum) != 3 || got.enum[1] != "TCP" {
		t.Errorf("markers of Protocol = %+v, want an enum of 3 values, TCP second", got)
	}
	if got := m.ofField(service, "nothing"); !reflect.DeepEqual(got, &fieldMarkers{}) {
		t.Errorf("markers of an unknown field = %+v, want none", got)
	}
}

func TestInvalidMarkers(t *testing.T) {
	for text, want := range map[string]string{
		"a.B odd":                `line 1: expected a marker that the header describes, received "odd"`,
		"# head\na.B\n\tc odd=1": `line 3: expected a marker`,
		"a.B enum=[":             "unexpected end of JSON",
		"a.B\n\tc default=TCP":   "invalid character",
	} {
		if _, err := parseMarkers(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseMarkers(%q): error = %v, want %q", text, err, want)
		}
	}
}

// TestGenerated checks that the checked-in markers.txt equals the output of the generator for the k8s.io/api version in
// go.mod.
func TestGenerated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "markers.txt")
	if out, err := exec.Command("go", "run", "./generate", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(made) != markersText {
		t.Error("markers.txt is outdated: run go generate ./internal/discovery")
	}
}
