package applyconfig

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	kappsv1 "k8s.io/api/apps/v1"
	kmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	admissionv1 "github.com/cadastre/cadastre/applyconfig/admissionregistration/v1"
	appsv1 "github.com/cadastre/cadastre/applyconfig/apps/v1"
	autoscalingv2 "github.com/cadastre/cadastre/applyconfig/autoscaling/v2"
	batchv1 "github.com/cadastre/cadastre/applyconfig/batch/v1"
	corev1 "github.com/cadastre/cadastre/applyconfig/core/v1"
	discoveryv1 "github.com/cadastre/cadastre/applyconfig/discovery/v1"
	networkingv1 "github.com/cadastre/cadastre/applyconfig/networking/v1"
	policyv1 "github.com/cadastre/cadastre/applyconfig/policy/v1"
	rbacv1 "github.com/cadastre/cadastre/applyconfig/rbac/v1"
	storagev1 "github.com/cadastre/cadastre/applyconfig/storage/v1"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// kinds contains empty apply configurations of kinds with many lists and maps.
var kinds = []any{
	corev1.PodApplyConfiguration{}, corev1.ServiceApplyConfiguration{}, corev1.NodeApplyConfiguration{},
	corev1.SecretApplyConfiguration{}, corev1.ConfigMapApplyConfiguration{}, corev1.PersistentVolumeApplyConfiguration{},
	corev1.NamespaceApplyConfiguration{}, corev1.ServiceAccountApplyConfiguration{}, corev1.ResourceQuotaApplyConfiguration{},
	corev1.PersistentVolumeClaimApplyConfiguration{}, appsv1.DeploymentApplyConfiguration{}, appsv1.StatefulSetApplyConfiguration{},
	appsv1.DaemonSetApplyConfiguration{}, appsv1.ReplicaSetApplyConfiguration{}, batchv1.JobApplyConfiguration{},
	batchv1.CronJobApplyConfiguration{}, autoscalingv2.HorizontalPodAutoscalerApplyConfiguration{}, networkingv1.IngressApplyConfiguration{},
	networkingv1.NetworkPolicyApplyConfiguration{}, policyv1.PodDisruptionBudgetApplyConfiguration{}, rbacv1.RoleApplyConfiguration{},
	rbacv1.ClusterRoleApplyConfiguration{}, rbacv1.RoleBindingApplyConfiguration{}, storagev1.StorageClassApplyConfiguration{},
	storagev1.CSIDriverApplyConfiguration{}, discoveryv1.EndpointSliceApplyConfiguration{}, admissionv1.ValidatingAdmissionPolicyApplyConfiguration{},
	admissionv1.MutatingWebhookConfigurationApplyConfiguration{},
}

// TestTopology compares the struct tags of the configurations with the topologies that client-go's Extract functions use.
func TestTopology(t *testing.T) {
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(&kappsv1.Deployment{TypeMeta: kmetav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}})
	check(t, err)
	text, err := yaml.Marshal(typed.Schema())
	check(t, err)
	doc, err := document.ParseYAMLLimited(text, document.Limits{MaxBytes: -1})
	check(t, err)
	loaded, err := schema.LoadTypes(doc)
	check(t, err)
	c := comparison{t: t, seen: map[reflect.Type]bool{}}
	for _, configuration := range kinds {
		goType := reflect.TypeOf(configuration)
		name := "io.k8s.api." + strings.ReplaceAll(strings.TrimPrefix(goType.PkgPath(), ours+"/"), "/", ".") + "." + strings.TrimSuffix(goType.Name(), "ApplyConfiguration")
		root, known := loaded.Type(name)
		if !known {
			t.Errorf("client-go has no type %s", name)
			continue
		}
		c.structure(name, goType, root)
	}
	if c.lists < 150 {
		t.Errorf("compared %d lists, want at least 150", c.lists)
	}
}

type comparison struct {
	t     *testing.T
	seen  map[reflect.Type]bool
	lists int
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// structure compares the tags of a generated struct and of its fields with a topology.
func (c *comparison) structure(path string, goType reflect.Type, want *schema.Type) {
	marks, generated := goType.FieldByName("UnsetMarks")
	if want == nil || want.Map == nil || !generated || c.seen[goType] {
		return
	}
	c.seen[goType] = true
	if atomic := marks.Tag.Get("merge") == "atomic"; len(marks.Index) == 1 && atomic != want.Map.Atomic {
		c.t.Errorf("%s: atomic = %v, want %v", path, atomic, want.Map.Atomic)
	}
	c.fields(path, goType, want)
}

func (c *comparison) fields(path string, goType reflect.Type, want *schema.Type) {
	for i := range goType.NumField() {
		f := goType.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			c.fields(path, elem(f.Type), want)
			continue
		}
		t, declared := want.Map.TypeOf(name)
		if !declared || t == nil {
			continue
		}
		c.value(path+"."+name, elem(f.Type), f.Tag.Get("merge"), t)
	}
}

func (c *comparison) value(path string, goType reflect.Type, tag string, want *schema.Type) {
	switch goType.Kind() {
	case reflect.Struct:
		c.structure(path, goType, want)
	case reflect.Map:
		if want.Map != nil && want.Map.Atomic != (tag == "atomic") {
			c.t.Errorf("%s: tag %q, want an atomic map: %v", path, tag, want.Map.Atomic)
		}
	case reflect.Slice:
		if want.List == nil {
			return // []byte is a string in the topology
		}
		c.lists++
		if got := describe(want.List); withoutZero(strings.TrimPrefix(tag, "atomic")) != got {
			c.t.Errorf("%s: tag %q, want %q", path, tag, got)
		}
		c.value(path+"[]", elem(goType.Elem()), "", want.List.Item)
	}
}

// describe returns the struct tag merge for a list; "" for an atomic list.
func describe(l *schema.List) string {
	switch l.Relationship {
	case schema.Set:
		return "set"
	case schema.Keyed:
		tag := "map"
		for _, key := range l.Keys {
			tag += "," + key.Name
			// In OpenAPI, required keys have their zero value as default.
			if text := key.Default.JSON(); !key.Default.IsAbsent() && text != `""` && text != "0" {
				tag += "=" + key.Default.Text()
			}
		}
		return tag
	}
	return ""
}

// withoutZero removes empty defaults of keys, which some Go types declare, from a struct tag.
func withoutZero(tag string) string {
	keys := strings.Split(tag, ",")
	for i := range keys {
		keys[i] = strings.TrimSuffix(keys[i], "=")
	}
	return strings.Join(keys, ",")
}
