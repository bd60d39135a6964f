package applyconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/internal/applyconfiggen"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// project is a source of the generator: a Go module with CustomResourceDefinitions or, if module is empty, the server's
// OpenAPI documents. testdata contains a program that uses the generated code.
type project struct {
	name, module, definitions string
	resource                  kschema.GroupVersionResource
	// object is the name of the object that the program applies. want contains the fields of its spec that are compared
	// after both managers have applied.
	object string
	want   map[string]string
	// defaulted replaces the first text in the extracted configuration with the second: managedFields do not record whether
	// the manager applied an unset marker or the default of the field.
	defaulted [2]string
}

var projects = []project{
	{
		name: "cert-manager", module: "github.com/cert-manager/cert-manager@v1.21.2", definitions: "deploy/crds",
		resource: kschema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}, object: "web",
		want: map[string]string{"duration": `null`, "privateKey": `{"algorithm":"RSA"}`, "dnsNames": `["example.com"]`},
	},
	{
		name: "argo-rollouts", module: "github.com/argoproj/argo-rollouts@v1.10.1", definitions: "manifests/crds",
		resource: kschema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}, object: "web",
		want: map[string]string{
			"replicas": `null`, "strategy": `{"canary":{"maxUnavailable":0,"steps":[{"setWeight":20}]}}`,
			"template": `{"spec":{"containers":[{"image":"app:1","name":"app","ports":[{"containerPort":80,"protocol":"TCP"}]}]}}`,
		},
	},
	{
		name: "cluster-api", module: "sigs.k8s.io/cluster-api@v1.14.2", definitions: "core/config/crd/bases",
		resource: kschema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"}, object: "prod",
		want: map[string]string{
			"paused": `null`, "topology": `{"classRef":{"name":"small"},"variables":[{"name":"region","value":"eu"}],"version":"v1.37.1"}`,
		},
	},
	{
		name: "openapi", resource: kschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, object: "web",
		want:      map[string]string{"replicas": `1`, "minReadySeconds": `null`},
		defaulted: [2]string{`"replicas":1`, `"replicas":{"k8s_io__value":"unset"}`},
	},
}

// command runs a go command in a folder.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// TestProjects generates apply configurations for each project, compiles a program that uses them and depends only on
// applyruntime, and applies the configurations that the program prints.
func TestProjects(t *testing.T) {
	module := t.TempDir()
	runtimeDir, err := filepath.Abs("../../applyruntime")
	check(t, err)
	check(t, os.WriteFile(filepath.Join(module, "go.mod"), fmt.Appendf(nil,
		"module example.com/projects\n\ngo 1.26.0\n\nrequire github.com/cadastre/cadastre/applyruntime v0.0.0\n\nreplace github.com/cadastre/cadastre/applyruntime => %s\n", runtimeDir), 0o600))
	check(t, os.CopyFS(filepath.Join(module, "program"), os.DirFS("testdata/program")))
	config := start(t)
	c, err := dynamic.NewForConfig(config)
	check(t, err)
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			args := []string{"openapi", "--kubeconfig", kubeconfig(t, config), "--group", "apps"}
			if p.module != "" {
				var downloaded struct{ Dir string }
				check(t, json.Unmarshal([]byte(command(t, t.TempDir(), "mod", "download", "-json", p.module)), &downloaded))
				definitions := filepath.Join(downloaded.Dir, p.definitions)
				install(t, c, definitions)
				args = []string{"crd", "-f", definitions}
			}
			p.test(t, module, c, args)
		})
	}
}

// kubeconfig writes a kubeconfig file for a server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	check(t, clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{"c": {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts: map[string]*api.Context{"c": {Cluster: "c", AuthInfo: "c"}}, CurrentContext: "c",
	}, file))
	return file
}

func (p project) test(t *testing.T, module string, c dynamic.Interface, args []string) {
	var output bytes.Buffer
	args = append(args, "--output-dir", filepath.Join(module, p.name), "--output-package", "example.com/projects/"+p.name)
	began := time.Now()
	if code := applyconfiggen.Main(t.Context(), args, &output, &output); code != 0 {
		t.Fatalf("applyconfig-gen: exit code %d, %s", code, &output)
	}
	t.Logf("generated in %v", time.Since(began))
	check(t, os.CopyFS(filepath.Join(module, p.name, "main"), os.DirFS(filepath.Join("testdata", p.name))))
	program := filepath.Join(module, p.name+".exe")
	command(t, module, "build", "-o", program, "./"+p.name+"/main")
	run := func(stdin []byte, args ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, args...)
		command.Stdin = bytes.NewReader(stdin)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}

	for _, manager := range []string{"author", "remover"} {
		p.apply(t, c, manager, run(nil, "apply", manager))
	}
	object, err := c.Resource(p.resource).Namespace("default").Get(t.Context(), p.object, kmetav1.GetOptions{})
	check(t, err)
	spec, _ := object.Object["spec"].(map[string]any)
	for field, want := range p.want {
		if got := asJSON(t, spec[field]); got != want {
			t.Errorf("spec.%s = %s, want %s", field, got, want)
		}
	}
	text, err := object.MarshalJSON()
	check(t, err)
	for _, manager := range []string{"author", "remover"} {
		extracted := run(text, "extract", manager)
		if after := p.apply(t, c, manager, extracted); after.GetResourceVersion() != object.GetResourceVersion() {
			t.Errorf("applying what %s owns, %s, wrote revision %s after %s, want no write", manager, extracted, after.GetResourceVersion(), object.GetResourceVersion())
		}
	}
	extracted := strings.Replace(string(run(text, "extract", "remover")), p.defaulted[0], p.defaulted[1], 1)
	if !equalJSON(extracted, string(run(nil, "apply", "remover"))) {
		t.Errorf("extract of the remover = %s, want the configuration that it has applied, %s", extracted, run(nil, "apply", "remover"))
	}
}

// apply applies a configuration with force, as soon as the server serves the kind.
func (p project) apply(t *testing.T, c dynamic.Interface, manager string, config []byte) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	check(t, object.UnmarshalJSON(config))
	var applied *unstructured.Unstructured
	testwait.For(t, "the kind is served", func() bool {
		var err error
		applied, err = c.Resource(p.resource).Namespace("default").Apply(t.Context(), p.object, object, kmetav1.ApplyOptions{FieldManager: manager, Force: true})
		if apierrors.IsNotFound(err) {
			return false
		}
		check(t, err)
		return true
	})
	return applied
}

// install applies the CustomResourceDefinitions in a folder.
func install(t *testing.T, c dynamic.Interface, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	check(t, err)
	slices.Sort(files)
	crds := c.Resource(kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(t, err)
		object := &unstructured.Unstructured{}
		if yaml.Unmarshal(content, &object.Object) != nil || object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		unstructured.RemoveNestedField(object.Object, "status")
		_, err = crds.Apply(t.Context(), object.GetName(), object, kmetav1.ApplyOptions{FieldManager: "installer"})
		check(t, err)
	}
}

// TestGolden compiles the golden files of the generator's tests.
func TestGolden(t *testing.T) {
	module := t.TempDir()
	golden := "../../internal/applyconfiggen/testdata/golden"
	root, err := filepath.Abs("../..")
	check(t, err)
	check(t, os.CopyFS(module, os.DirFS(golden)))
	check(t, os.RemoveAll(filepath.Join(module, "go")))
	check(t, os.WriteFile(filepath.Join(module, "go.mod"), fmt.Appendf(nil,
		"module example.com/golden\n\ngo 1.26.0\n\nrequire github.com/cadastre/cadastre/applyruntime v0.0.0\n\nreplace github.com/cadastre/cadastre/applyruntime => %s/applyruntime\n", root), 0o600))
	command(t, module, "vet", "./...")

	// The golden files of the source go import an internal API package, so they are compiled in this module.
	dir, err := os.MkdirTemp("testdata", "golden")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	check(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden, "go"))))
	command(t, ".", "vet", "./"+filepath.ToSlash(dir)+"/v1")
}
