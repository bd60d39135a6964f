package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/schema"
)

func TestClashes(t *testing.T) {
	for name, test := range map[string]struct{ kind, config, merged, want string }{
		"second volume source": {"core.v1.PodTemplate",
			`{template: {spec: {volumes: [{name: data, configMap: {name: c}}]}}}`,
			`{template: {spec: {volumes: [{name: other, emptyDir: {}}, {name: data, configMap: {name: c}, emptyDir: {}}]}}}`,
			`.template.spec.volumes[name="data"] configMap emptyDir`},
		"several": {"core.v1.PodTemplate",
			`{template: {spec: {containers: [{name: a, livenessProbe: {exec: {}}, env: [{name: A, valueFrom: {fieldRef: {}}}]}]}}}`,
			`{template: {spec: {containers: [{name: a, livenessProbe: {exec: {}, tcpSocket: {}, grpc: {}}, env: [{name: A, value: x, valueFrom: {fieldRef: {}}}]}]}}}`,
			`.template.spec.containers[name="a"].env[name="A"] valueFrom value, .template.spec.containers[name="a"].livenessProbe exec grpc, .template.spec.containers[name="a"].livenessProbe exec tcpSocket`},
		"both members applied": {"core.v1.PodTemplate",
			`{template: {spec: {volumes: [{name: data, configMap: {}, emptyDir: {}}]}}}`,
			`{template: {spec: {volumes: [{name: data, configMap: {}, emptyDir: {}}]}}}`, ``},
		"no member applied": {"core.v1.PodTemplate",
			`{template: {spec: {volumes: [{name: data}]}}}`, `{template: {spec: {volumes: [{name: data, configMap: {}, emptyDir: {}}]}}}`, ``},
		"unset marker": {"core.v1.PodTemplate",
			`{template: {spec: {volumes: [{name: data, emptyDir: {k8s_io__value: unset}}]}}}`, `{template: {spec: {volumes: [{name: data, configMap: {}}]}}}`, ``},
		"empty string is not a member": {"core.v1.PodTemplate",
			`{template: {spec: {containers: [{name: a, env: [{name: A, valueFrom: {fieldRef: {}}}]}]}}}`,
			`{template: {spec: {containers: [{name: a, env: [{name: A, value: "", valueFrom: {fieldRef: {}}}]}]}}}`, ``},
		"empty map is a member": {"apps.v1.Deployment", `{spec: {template: {spec: {volumes: [{name: data, emptyDir: {}}]}}}}`,
			`{spec: {template: {spec: {volumes: [{name: data, emptyDir: {}, hostPath: {}}]}}}}`, `.spec.template.spec.volumes[name="data"] emptyDir hostPath`},
		"discriminator applied": {"apps.v1.Deployment", `{spec: {strategy: {type: Recreate}}}`, `{spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}`,
			`.spec.strategy type rollingUpdate by type RollingUpdate`},
		"member applied against the discriminator": {"apps.v1.Deployment", `{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}`,
			`{spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}`, `.spec.strategy rollingUpdate type by type RollingUpdate`},
		"member applied with the discriminator": {"apps.v1.Deployment", `{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}`,
			`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`, ``},
		"absent discriminator": {"apps.v1.Deployment", `{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}`,
			`{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}`, ``},
		"other fields": {"policy.v1.PodDisruptionBudget", `{spec: {minAvailable: 0}}`, `{spec: {minAvailable: 0, maxUnavailable: 1, selector: {}}}`,
			`.spec minAvailable maxUnavailable`},
		"kind without one-ofs": {"core.v1.ConfigMap", `{data: {a: "1"}}`, `{data: {a: "1", b: "2"}}`, ``},
	} {
		kind := mustType(t, test.kind)
		var got []string
		for _, c := range kind.OneOfs(topologyOfKind(t, test.kind)).Clashes(parseYAML(t, test.config), parseYAML(t, test.merged)) {
			text := fmt.Sprintf("%s %s %s", c.Path, c.Applied, c.Sibling)
			if c.Discriminator != "" {
				text += " by " + c.Discriminator + " " + c.Value
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: Clashes()\ngot  %s\nwant %s", name, text, test.want)
		}
	}
}

func parseYAML(t testing.TB, text string) document.Value {
	t.Helper()
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func topologyOfKind(t testing.TB, name string) *schema.Type {
	t.Helper()
	words := strings.Split(name, ".")
	group := strings.TrimPrefix(words[0], "core")
	topology, ok := api.BuiltinTopology(group, words[1], words[2])
	if !ok {
		t.Fatalf("BuiltinTopology of %s: got none, want a topology", name)
	}
	return topology
}

// TestOneOfsCanClash checks that several field managers can own members of each declared union; a declaration of any other
// union has no effect.
func TestOneOfsCanClash(t *testing.T) {
	found := map[string]bool{}
	for _, kind := range api.Builtin() {
		for _, version := range kind.Versions {
			topology, ok := kind.Topology(kind.APIVersion(version))
			of, known := Builtin(api.TypeName(kind.Group, version, kind.Name))
			if ok && known {
				of.OneOfs(topology).find(found)
			}
		}
	}
	for of, sets := range builtinOneOfs() {
		for _, set := range sets {
			if !found[fmt.Sprint(set)] {
				t.Errorf("one-of %v of %s: the struct is atomic wherever it is used, so that the one-of has no effect; remove it", set.members, of.Name)
			}
		}
	}
}

func (o *OneOfs) find(found map[string]bool) {
	if o == nil {
		return
	}
	for _, set := range o.local {
		found[fmt.Sprint(set)] = true
	}
	for _, inside := range o.nested {
		inside.in.find(found)
	}
}

func TestInvalidOneOfs(t *testing.T) {
	for text, want := range map[string]string{
		"core.v1.Foo\n\ta b":               `types/test.type:2: expected the name of a struct`,
		"core.v1.Volume\n\temptyDir foo":   `types/test.type:4: io.k8s.api.core.v1.Volume: expected the name of a field, received "foo"`,
		"core.v1.Volume\n\tall except nme": `received "nme"`,
		"core.v1.Volume\n\tby kind a=nfs":  `received "kind"`,
		"core.v1.Volume\n\tby name a=b":    `received "b"`,
	} {
		if _, err := builtin().readOneOfs(newTypeFile(t, "one-ofs", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readOneOfs() of %q: error = %v, want %s", text, err, want)
		}
	}
}

// BenchmarkClashes measures Clashes without clashes. Every apply to an existing object calls Clashes.
func BenchmarkClashes(b *testing.B) {
	oneOfs := mustType(b, "apps.v1.Deployment").OneOfs(topologyOfKind(b, "apps.v1.Deployment"))
	config := parseYAML(b, `{metadata: {name: web, labels: {app: web}}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {spec: {
	  containers: [{name: web, image: nginx, env: [{name: A, value: "1"}, {name: B, value: "2"}], livenessProbe: {httpGet: {port: 80}}, ports: [{containerPort: 80}]},
	    {name: proxy, image: proxy}], volumes: [{name: data, emptyDir: {}}, {name: config, configMap: {name: web}}]}}}}`)
	config = parse(b, config.JSON()) // parse the document from JSON, like a request body
	b.ReportAllocs()
	for b.Loop() {
		if found := oneOfs.Clashes(config, config); found != nil {
			b.Fatal(found)
		}
	}
}
