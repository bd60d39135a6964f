package material

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Project is a Go module with CustomResourceDefinitions.
type Project struct {
	Name, Module, Version string
	// Definitions lists patterns of the files with the project's CustomResourceDefinitions. Other files may contain
	// definitions for tests.
	Definitions []string
	// Without maps the names of samples that must not be applied to the reasons.
	Without map[string]string
	// Samples contains objects as YAML that are written by hand, for kinds that have no sample in the module and whose
	// generated objects are invalid.
	Samples []string
}

// Projects lists the tested projects, at the latest versions that this Go release can download.
var Projects = []Project{
	{Name: "argo-cd", Module: "github.com/argoproj/argo-cd/v3", Version: "v3.5.6", Definitions: []string{"manifests/crds/*.yaml"}},
	{Name: "argo-rollouts", Module: "github.com/argoproj/argo-rollouts", Version: "v1.10.1", Definitions: []string{"manifests/crds/*.yaml"}},
	{Name: "cert-manager", Module: "github.com/cert-manager/cert-manager", Version: "v1.21.2", Definitions: []string{"deploy/crds/*.yaml"}},
	{Name: "cilium", Module: "github.com/cilium/cilium", Version: "v1.20.2", Definitions: []string{"pkg/k8s/apis/cilium.io/client/crds/*/*.yaml"}},
	{Name: "cluster-api", Module: "sigs.k8s.io/cluster-api", Version: "v1.14.2", Definitions: []string{
		"core/config/crd/bases/*.yaml", "bootstrap/kubeadm/config/crd/bases/*.yaml", "controlplane/kubeadm/config/crd/bases/*.yaml",
	}},
	{Name: "crossplane", Module: "github.com/crossplane/crossplane/v2", Version: "v2.4.0", Definitions: []string{"cluster/crds/*.yaml"}},
	{Name: "external-secrets", Module: "github.com/external-secrets/external-secrets", Version: "v1.3.2", Definitions: []string{"config/crds/bases/*.yaml"}, Without: map[string]string{
		"tests/__snapshot__/generatorstate-v1alpha1.yaml#1": "null in required fields, which only kube-apiserver accepts: see docs/differences.md",
	}},
	{Name: "flux-kustomize", Module: "github.com/fluxcd/kustomize-controller", Version: "v1.9.6", Definitions: []string{"config/crd/bases/kustomize*.yaml"}},
	{Name: "flux-source", Module: "github.com/fluxcd/source-controller", Version: "v1.9.6", Definitions: []string{"config/crd/bases/*.yaml"}},
	{Name: "gateway-api", Module: "sigs.k8s.io/gateway-api", Version: "v1.6.3", Definitions: []string{"config/crd/experimental/*.yaml"}, Samples: []string{
		`{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XBackend, metadata: {name: hello}, spec: {type: ExternalHostname, externalHostname: {hostname: example.org}, port: {port: 443}}}`,
	}},
	{Name: "istio", Module: "istio.io/api", Version: "v1.31.1", Definitions: []string{"kubernetes/*.yaml"}, Samples: []string{
		`{apiVersion: extensions.istio.io/v1alpha1, kind: TrafficExtension, metadata: {name: hello}, spec: {phase: STATS, lua: {inlineCode: "return 1"}}}`,
	}},
	{Name: "karpenter", Module: "sigs.k8s.io/karpenter", Version: "v1.14.1", Definitions: []string{"pkg/apis/crds/*.yaml"}},
	{Name: "keda", Module: "github.com/kedacore/keda/v2", Version: "v2.21.0", Definitions: []string{"config/crd/bases/*.yaml"}},
	{Name: "knative-serving", Module: "knative.dev/serving", Version: "v0.42.2", Definitions: []string{"config/core/300-resources/*.yaml"}},
	{Name: "kyverno", Module: "github.com/kyverno/kyverno", Version: "v1.19.1", Definitions: []string{"config/crds/*/*.yaml"}},
	{Name: "prometheus-operator", Module: "github.com/prometheus-operator/prometheus-operator", Version: "v0.85.0", Definitions: []string{
		"example/prometheus-operator-crd-full/*.yaml",
	}},
}

// Fetch downloads the module with the go command, unless it is cached, and returns its files.
func (p Project) Fetch(ctx context.Context) (fs.FS, error) {
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.Module+"@"+p.Version)
	// Run the command outside of any module, so that the requirements of this module have no effect.
	download.Dir = os.TempDir()
	download.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	download.Stderr = &stderr
	out, err := download.Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return nil, fmt.Errorf("fetch %s@%s: %s", p.Module, p.Version, module.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s@%s: %w\n%s", p.Module, p.Version, err, stderr.Bytes())
	}
	return os.DirFS(module.Dir), nil
}

// defines reports whether file contains CustomResourceDefinitions of the project.
func (p Project) defines(file string) bool { return matchesAny(p.Definitions, file) }

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		if err != nil {
			panic(err) // cannot fail: the patterns of Projects are valid
		}
		return matches
	})
}

// yamlFiles returns the names of all YAML files, sorted.
func yamlFiles(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
