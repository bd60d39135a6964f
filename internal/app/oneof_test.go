package app

import (
	"strings"
	"testing"
)

const templates = "/api/v1/namespaces/default/podtemplates"

func template(volume string) string {
	return `{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"t"},"template":{"spec":{"volumes":[{"name":"data",` + volume + `}]}}}`
}

// TestWarningsOfOneOfs checks the warning if two appliers set different members of a one-of: it names the field manager of
// the member that is already set, and the configuration that removes that member.
func TestWarningsOfOneOfs(t *testing.T) {
	c := start(t, Config{})
	c.apply(templates+"/t", "alice", `{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"t"},"template":{"spec":{
		"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"data","emptyDir":{}}]}}}`).want(201)
	refused := c.apply(templates+"/t", "bob", template(`"configMap":{"name":"c"}`)).want(422, "may not specify more than 1 volume type")
	const want = `299 - ".template.spec.volumes[name=\"data\"]: configMap was applied, but emptyDir is set, too (owned by \"alice\"); ` +
		`only one of them may be set; to remove emptyDir, apply emptyDir: {k8s_io__value: unset} beside configMap, by force"`
	if got := refused.header["Warning"]; len(got) != 1 || got[0] != want {
		t.Errorf("apply of a second volume type: got warnings %q, want %s", got, want)
	}
	unset := template(`"configMap":{"name":"c"},"emptyDir":{"k8s_io__value":"unset"}`)
	c.apply(templates+"/t", "bob", unset).want(409, "emptyDir")
	removed := c.apply(templates+"/t?force=true", "bob", unset).want(200, `"configMap"`)
	if strings.Contains(removed.text, `"emptyDir":`) || removed.header["Warning"] != nil {
		t.Errorf("after the forced removal of emptyDir: received warnings %q and object %s, want no warnings and no emptyDir", removed.header["Warning"], removed.text)
	}
}

// TestWarningsOfDiscriminators checks the warning for a field that does not match the discriminator of its one-of, even if a
// default has set the field.
func TestWarningsOfDiscriminators(t *testing.T) {
	c := start(t, Config{})
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	config := func(strategy string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{` + strategy + `},"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	}
	warns := func(a *testResponse, texts ...string) {
		t.Helper()
		warnings := strings.Join(a.header["Warning"], "\n")
		for _, text := range texts {
			if !strings.Contains(warnings, text) {
				t.Errorf("warnings = %s, want %s", warnings, text)
			}
		}
		if len(texts) == 0 && warnings != "" {
			t.Errorf("warnings = %s, want none", warnings)
		}
	}
	warns(c.apply(deployments+"/d", "alice", config("")).want(201))
	warns(c.apply(deployments+"/d", "alice", config(`"type":"Recreate"`)).want(422),
		".spec.strategy: type was applied, but rollingUpdate is set (no owner) and requires type RollingUpdate",
		"apply rollingUpdate: {k8s_io__value: unset} beside type\"")
	warns(c.apply(deployments+"/d", "alice", config(`"type":"Recreate","rollingUpdate":{"k8s_io__value":"unset"}`)).want(200, `"strategy":{"type":"Recreate"}`))
	rolling := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{"rollingUpdate":{"maxSurge":1}}}}`
	warns(c.apply(deployments+"/d?force=true", "bob", rolling).want(422),
		`rollingUpdate was applied, but requires type RollingUpdate, and type has another value (owned by \"alice\"); apply type: RollingUpdate as well, by force`)
}

// TestAllowedOneOfs checks that an apply warns of a one-of with two members even if Kubernetes accepts it, and that a no-op
// apply repeats the warning.
func TestAllowedOneOfs(t *testing.T) {
	c := start(t, Config{})
	const sets = "/apis/apps/v1/namespaces/default/daemonsets"
	config := func(rest string) string {
		return `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d"},"spec":{` + rest + `}}`
	}
	c.apply(sets+"/d", "alice", config(`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)).want(201)
	for range 2 {
		got := c.apply(sets+"/d", "bob", config(`"updateStrategy":{"type":"OnDelete"}`))
		if warnings := got.want(200).header["Warning"]; len(warnings) != 1 || !strings.Contains(warnings[0], "rollingUpdate is set (no owner)") {
			t.Errorf("received warnings %q, want one for rollingUpdate", warnings)
		}
	}
}
