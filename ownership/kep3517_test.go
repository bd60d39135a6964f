package ownership

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// The objects in the listings of KEP-3517, in the order of the KEP. The listings of its section "Motivation" show the same
// objects without managedFields.
const (
	clientSideApplied = `
apiVersion: v1
kind: ConfigMap
data: {key: value, legacy: unused}
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"key":"value","legacy":"unused"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"test","namespace":"default"}}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {.: {}, f:key: {}, f:legacy: {}}
      f:metadata: {f:annotations: {.: {}, f:kubectl.kubernetes.io/last-applied-configuration: {}}}
    manager: kubectl-client-side-apply
    operation: Update
  name: test
  namespace: default
`
	serverSideApplied = `
apiVersion: v1
kind: ConfigMap
data: {key: value, legacy: unused}
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"key":"value","legacy":"unused"},"kind":"ConfigMap","metadata":{"name":"test","namespace":"default"}}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {f:key: {}, f:legacy: {}}
    manager: kubectl
    operation: Apply
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {.: {}, f:key: {}, f:legacy: {}}
      f:metadata: {f:annotations: {.: {}, f:kubectl.kubernetes.io/last-applied-configuration: {}}}
    manager: kubectl-client-side-apply
    operation: Update
  name: test
  namespace: default
`
	legacyFieldStays = `
apiVersion: v1
kind: ConfigMap
data: {key: value, legacy: unused}
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"key":"value"},"kind":"ConfigMap","metadata":{"name":"test","namespace":"default"}}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {f:key: {}}
    manager: kubectl
    operation: Apply
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {.: {}, f:key: {}, f:legacy: {}}
      f:metadata: {f:annotations: {.: {}, f:kubectl.kubernetes.io/last-applied-configuration: {}}}
    manager: kubectl-client-side-apply
    operation: Update
  name: test
  namespace: default
`
	migrated = `
apiVersion: v1
kind: ConfigMap
data: {key: value, legacy: unused}
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"key":"value"},"kind":"ConfigMap","metadata":{"name":"test","namespace":"default"}}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data: {.: {}, f:key: {}, f:legacy: {}}
      f:metadata: {f:annotations: {.: {}, f:kubectl.kubernetes.io/last-applied-configuration: {}}}
    manager: kubectl
    operation: Apply
  name: test
  namespace: default
`
	// fullConfig and configWithoutLegacy are the configurations that the user applies: with the field data.legacy, and
	// without it. They do not contain the last-applied annotation, which the server adds for kubectl.
	fullConfig = `
apiVersion: v1
kind: ConfigMap
metadata: {name: test, namespace: default}
data: {key: value, legacy: unused}
`
	configWithoutLegacy = `
apiVersion: v1
kind: ConfigMap
metadata: {name: test, namespace: default}
data: {key: value}
`
)

// TestKEP3517Listings performs the writes that KEP-3517 describes, and compares the object after each write with the
// listing in the KEP.
func TestKEP3517Listings(t *testing.T) {
	created := readYAML(t, clientSideApplied)
	s := &scenario{t: t, engine: configMaps(t)}
	s.update("kubectl-client-side-apply", created.Document)
	s.wantListing("applied client-side", clientSideApplied)

	s.apply(fullConfig)
	s.setDocument(serverSideApplied)
	s.wantListing("then server-side", serverSideApplied)

	s.apply(configWithoutLegacy)
	s.setDocument(legacyFieldStays)
	s.wantListing("without the field", legacyFieldStays)

	s.migrate()
	s.wantListing("migrated", migrated)
	s.apply(configWithoutLegacy)
	if legacy := s.object.Document.Lookup("data", "legacy"); !legacy.IsAbsent() {
		t.Errorf("data.legacy after the apply = %s, want it to be pruned", legacy)
	}
	if key := s.object.Document.Lookup("data", "key"); key.Text() != "value" {
		t.Errorf("data.key = %s, want value", key)
	}
}

// TestKEP3517MigratesEachListing migrates the object in each listing, and compares the result with that of client-go.
func TestKEP3517MigratesEachListing(t *testing.T) {
	for name, listing := range map[string]string{
		"applied client-side": clientSideApplied, "then server-side": serverSideApplied,
		"without the field": legacyFieldStays, "migrated": migrated,
	} {
		t.Run(name, func(t *testing.T) {
			o := readYAML(t, listing)
			result, err := Migrate(o, Migration{To: KubectlManager})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := formatEntries(t, result.Entries), formatEntries(t, readYAML(t, migrated).Entries); got != want {
				t.Errorf("Migrate() =\n%swant\n%s", got, want)
			}
			if result.NoOp() != (listing == migrated) {
				t.Errorf("NoOp() = %v, want %v", result.NoOp(), listing == migrated)
			}
			upgraded := toUnstructured(t, o)
			if err := csaupgrade.UpgradeManagedFields(upgraded, sets.New("kubectl-client-side-apply"), KubectlManager); err != nil {
				t.Fatal(err)
			}
			if got, want := formatEntries(t, result.Entries), formatEntries(t, fromClientGo(t, upgraded.GetManagedFields())); got != want {
				t.Errorf("Migrate() =\n%swant the result of client-go\n%s", got, want)
			}
		})
	}
}

// scenario is an object in a test that several field managers write. Its methods perform writes and replace the object
// with the result.
type scenario struct {
	t      *testing.T
	engine *apply.Engine
	object apply.Object
}

// configMaps returns an apply engine with the schema of ConfigMap.
func configMaps(t *testing.T) *apply.Engine {
	t.Helper()
	kind, err := schema.FromGoType(reflect.TypeFor[corev1.ConfigMap]())
	if err != nil {
		t.Fatal(err)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("v1", kind)})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func (s *scenario) update(manager string, doc document.Value) {
	s.t.Helper()
	result, err := s.engine.Update(s.object, doc, apply.Request{Manager: manager, Version: "v1"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.object = result.Object
}

func (s *scenario) apply(configuration string) {
	s.t.Helper()
	request := apply.Request{Manager: KubectlManager, Version: "v1", Time: time.Time{}}
	result, err := s.engine.Apply(s.object, readYAML(s.t, configuration).Document, request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.object = result.Object
}

// setDocument replaces the document with that of the given listing, without changing managedFields. It simulates the
// server's update of the last-applied annotation, which does not change the owners of the annotation.
func (s *scenario) setDocument(listing string) {
	s.object.Document = readYAML(s.t, listing).Document
}

func (s *scenario) migrate() {
	s.t.Helper()
	result, err := Migrate(s.object, Migration{To: KubectlManager})
	if err != nil {
		s.t.Fatal(err)
	}
	s.object.Entries = result.Entries
}

func (s *scenario) wantListing(step, listing string) {
	s.t.Helper()
	if got, want := s.object.JSON(), readYAML(s.t, listing).JSON(); got != want {
		s.t.Errorf("%s: object =\n%s\nwant\n%s", step, got, want)
	}
}
