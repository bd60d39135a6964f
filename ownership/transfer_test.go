package ownership

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// app is the path of the container app.
const app = `spec.containers[name="app"]`

// sharedObject returns an object with managed fields entries of several field managers, operations and subresources.
func sharedObject(t *testing.T) apply.Object {
	return apply.Object{Document: document.NewMap(), Entries: []apply.Entry{
		newEntry(t, "ci/Apply", "spec.replicas", app, app+".image", app+".name"),
		newEntry(t, "hpa/Update/scale", "spec.replicas"),
		newEntry(t, "kubectl-edit/Update", app+".image", app+".env", app+`.env[name="X"]`, app+`.env[name="X"].value`),
		newEntry(t, "kubelet/Update/status", "status.ready"),
	}}
}

func TestRelease(t *testing.T) {
	for _, test := range []struct {
		name  string
		from  Selector
		paths []string
		after string
	}{
		{
			"one field", Selector{Manager: "ci"}, []string{"spec.replicas"},
			`ci/Apply: .spec.containers[name="app"] .spec.containers[name="app"].image .spec.containers[name="app"].name
hpa/Update/scale: .spec.replicas
kubectl-edit/Update: .spec.containers[name="app"].env .spec.containers[name="app"].image .spec.containers[name="app"].env[name="X"] .spec.containers[name="app"].env[name="X"].value
kubelet/Update/status: .status.ready
`,
		},
		{
			"an item with all fields, which empties the entry", Selector{Manager: "kubectl-edit"}, []string{app},
			`ci/Apply: .spec.replicas .spec.containers[name="app"] .spec.containers[name="app"].image .spec.containers[name="app"].name
hpa/Update/scale: .spec.replicas
kubelet/Update/status: .status.ready
`,
		},
		{
			"several fields of all managers and subresources", Selector{Subresource: AnySubresource}, []string{"spec.replicas", app + ".env"},
			`ci/Apply: .spec.containers[name="app"] .spec.containers[name="app"].image .spec.containers[name="app"].name
kubectl-edit/Update: .spec.containers[name="app"].image
kubelet/Update/status: .status.ready
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := Release(sharedObject(t), test.from, mustPaths(t, test.paths...)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := formatEntries(t, result.Entries); got != test.after {
				t.Errorf("Entries =\n%swant\n%s", got, test.after)
			}
		})
	}
}

func TestTransfer(t *testing.T) {
	o := sharedObject(t)
	result, err := Transfer(o, Selector{Subresource: AnySubresource}, Selector{Manager: "gitops"}, mustPaths(t, app+".image", app+".env")...)
	if err != nil {
		t.Fatal(err)
	}
	want := `ci/Apply: .spec.replicas .spec.containers[name="app"] .spec.containers[name="app"].name
gitops/Apply: .spec.containers[name="app"].env .spec.containers[name="app"].image .spec.containers[name="app"].env[name="X"] .spec.containers[name="app"].env[name="X"].value
hpa/Update/scale: .spec.replicas
kubelet/Update/status: .status.ready
`
	if got := formatEntries(t, result.Entries); got != want {
		t.Errorf("Entries =\n%swant\n%s", got, want)
	}
	o.Entries = result.Entries
	again, err := Transfer(o, Selector{Subresource: AnySubresource}, Selector{Manager: "gitops"}, mustPaths(t, app+".image", app+".env")...)
	if err != nil || !again.NoOp() {
		t.Errorf("second Transfer(): error = %v, Moves = %+v; want no moves", err, again.Moves)
	}
	back, err := Transfer(o, Selector{Manager: "gitops"}, Selector{Manager: "ci"}, mustPaths(t, app+".image")...)
	if err != nil || !strings.Contains(formatEntries(t, back.Entries), `ci/Apply: .spec.replicas .spec.containers[name="app"] .spec.containers[name="app"].image .spec.containers[name="app"].name`) {
		t.Errorf("Transfer() of the image back to ci: error = %v, want ci to own its original fields; got\n%s", err, formatEntries(t, back.Entries))
	}
}

func TestReleaseAndTransferErrors(t *testing.T) {
	o := sharedObject(t)
	replicas := mustPaths(t, "spec.replicas")
	release := func(from Selector, paths ...fieldset.Path) error { _, err := Release(o, from, paths...); return err }
	transfer := func(from, to Selector) error { _, err := Transfer(o, from, to, replicas...); return err }
	for _, test := range []struct {
		err  error
		want string
	}{
		{release(Selector{Manager: "ci"}), "expected the path of a field, received none"},
		{release(Selector{Manager: "ci"}, fieldset.Path{}), "expected the path of a field, received none"},
		{release(Selector{Manager: "unknown"}, replicas...), `spec.replicas: "unknown" owns no field of this object; its managers are "ci" by Apply, "hpa" by Update at scale, "kubectl-edit" by Update, "kubelet" by Update at status`},
		{release(Selector{Manager: "kubectl-edit"}, replicas...), `spec.replicas: "kubectl-edit" does not own it; its owners are "ci" by Apply, "hpa" by Update at scale`},
		{release(Selector{Manager: "ci"}, mustPaths(t, "spec.paused")...), `spec.paused: "ci" does not own it; the field has no owner`},
		{transfer(Selector{Manager: "ci"}, Selector{}), "to.Manager must be set"},
		{transfer(Selector{Manager: "ci"}, Selector{Manager: "x", Subresource: AnySubresource}), `expected one subresource for manager "x", received *`},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("error = %v, want it to contain %s", test.err, test.want)
		}
	}
	var notOwned *NotOwnedError
	if err := release(Selector{Manager: "kubectl-edit"}, replicas...); !errors.As(err, &notOwned) || len(notOwned.Owners) != 2 {
		t.Errorf("Release() error = %v, want a NotOwnedError with two owners", err)
	}
}

func TestPatch(t *testing.T) {
	o := readYAML(t, `{metadata: {resourceVersion: "7"}}`)
	for _, test := range []struct {
		name    string
		entries []apply.Entry
		want    string
	}{
		{
			"includes the resourceVersion", []apply.Entry{newEntry(t, "ci/Apply", "data.a")},
			`[{"op":"replace","path":"/metadata/managedFields","value":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}},"manager":"ci","operation":"Apply"}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`,
		},
		{
			"no entries", nil,
			`[{"op":"replace","path":"/metadata/managedFields","value":[{}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			patch, err := Patch(o, test.entries)
			if err != nil || string(patch) != test.want {
				t.Errorf("Patch() = %s, %v; want %s", patch, err, test.want)
			}
		})
	}
	if _, err := Patch(readYAML(t, `{metadata: {name: x}}`), nil); err == nil || !strings.Contains(err.Error(), "resourceVersion") {
		t.Errorf("Patch() without resourceVersion: error = %v, want it to contain resourceVersion", err)
	}
	if _, err := Patch(o, []apply.Entry{{FieldsV1: "{"}}); err == nil {
		t.Error("Patch() with an invalid field set: error = nil, want one")
	}
}
