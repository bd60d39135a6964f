package admission

import (
	"context"
	"errors"
	"fmt"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

var (
	configMaps = &api.Kind{Name: "ConfigMap", Resource: "configmaps", Versions: []string{"v1"}, Namespaced: true}
	spaces     = &api.Kind{Name: "Namespace", Resource: "namespaces", Versions: []string{"v1"}}
	autoscaler = &api.Kind{Group: "autoscaling", Name: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers", Versions: []string{"v2", "v1"}, Namespaced: true}
	hooks      = &api.Kind{Group: "admissionregistration.k8s.io", Name: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations", Versions: []string{"v1"}}
)

func rule(operation, group, version, resource string) registration.NamedRuleWithOperations {
	r := registration.NamedRuleWithOperations{}
	r.Operations = []registration.OperationType{registration.OperationType(operation)}
	r.APIGroups, r.APIVersions, r.Resources = []string{group}, []string{version}, []string{resource}
	return r
}

// resourceOf returns the endpoint of a kind at its preferred version.
func resourceOf(kind *api.Kind) Resource {
	return NewResource(kind, kind.Versions[0], "", schema.GroupVersionKind{})
}

func attributes(kind *api.Kind, subresource string) *Record {
	body := schema.GroupVersionKind{}
	if subresource == "scale" {
		body = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	q := NewRecord(Attributes{Resource: NewResource(kind, kind.Versions[0], subresource, body), Operation: Create, Name: "x"}, nil)
	if kind.Namespaced {
		q.Namespace = "n"
	}
	if kind == spaces {
		q.Namespace = q.Name
	}
	return q
}

// TestRules checks which requests a rule matches, and at which version of the resource.
func TestRules(t *testing.T) {
	scoped := func(scope registration.ScopeType) registration.NamedRuleWithOperations {
		r := rule("*", "*", "*", "*/*")
		r.Scope = &scope
		return r
	}
	named := rule("CREATE", "", "v1", "configmaps")
	named.ResourceNames = []string{"y"}
	for _, test := range []struct {
		name       string
		rule       registration.NamedRuleWithOperations
		record     *Record
		equivalent bool
		want       string // the GroupVersionKind at which the rule matches; "" if it must not match
	}{
		{"itself", rule("CREATE", "", "v1", "configmaps"), attributes(configMaps, ""), false, "/v1, Kind=ConfigMap"},
		{"all", rule("*", "*", "*", "*"), attributes(configMaps, ""), false, "/v1, Kind=ConfigMap"},
		{"another operation", rule("UPDATE", "", "v1", "configmaps"), attributes(configMaps, ""), false, ""},
		{"another group", rule("CREATE", "apps", "v1", "configmaps"), attributes(configMaps, ""), true, ""},
		{"another resource", rule("CREATE", "", "v1", "secrets"), attributes(configMaps, ""), true, ""},
		{"no subresource", rule("*", "*", "*", "*"), attributes(configMaps, "status"), true, ""},
		{"a subresource", rule("*", "*", "*", "configmaps/status"), attributes(configMaps, "status"), false, "/v1, Kind=ConfigMap"},
		{"all subresources", rule("*", "*", "*", "*/*"), attributes(configMaps, "status"), false, "/v1, Kind=ConfigMap"},
		{"all subresources, and the object", rule("*", "*", "*", "*/*"), attributes(configMaps, ""), false, "/v1, Kind=ConfigMap"},
		{"a scale", rule("*", "*", "*", "configmaps/scale"), attributes(configMaps, "scale"), false, "autoscaling/v1, Kind=Scale"},
		{"another version", rule("*", "autoscaling", "v1", "horizontalpodautoscalers"), attributes(autoscaler, ""), false, ""},
		{"an equivalent one", rule("*", "autoscaling", "v1", "horizontalpodautoscalers"), attributes(autoscaler, ""), true, "autoscaling/v1, Kind=HorizontalPodAutoscaler"},
		{"its own before", rule("*", "autoscaling", "*", "horizontalpodautoscalers"), attributes(autoscaler, ""), true, "autoscaling/v2, Kind=HorizontalPodAutoscaler"},
		{"another name", named, attributes(configMaps, ""), true, ""},
		{"in namespaces", scoped("Namespaced"), attributes(configMaps, ""), false, "/v1, Kind=ConfigMap"},
		{"in the cluster", scoped("Cluster"), attributes(configMaps, ""), false, ""},
		{"a namespace is in the cluster", scoped("Cluster"), attributes(spaces, ""), false, "/v1, Kind=Namespace"},
		{"a namespace is in none", scoped("Namespaced"), attributes(spaces, ""), false, ""},
	} {
		version, ok := Rules{test.rule}.match(test.record, test.equivalent)
		got := version.Kind.String()
		if !ok {
			got = ""
		}
		if got != test.want {
			t.Errorf("%s: match() = %q, want %q", test.name, got, test.want)
		}
		if mayMatch := (Rules{test.rule}).mayMatch(test.record.Resource, Create, test.equivalent); ok && !mayMatch {
			t.Errorf("%s: mayMatch = false for a request that the rule matches, want true", test.name)
		}
	}
}

// readerFunc is an admission.Reader whose Get calls the function with the requested name.
type readerFunc func(name string) (document.Value, error)

func (r readerFunc) Get(_ context.Context, _ schema.GroupResource, _, name string) (Object, error) {
	doc, err := r(name)
	return Object{Document: doc}, err
}

func (r readerFunc) List(context.Context, schema.GroupResource, string) ([]Object, error) {
	return nil, nil
}

// TestCriteria checks selectors, exclusions and exempt resources.
func TestCriteria(t *testing.T) {
	labelled := func(text string) document.Value {
		doc, err := document.ParseJSON(`{"metadata":{"name":"x","labels":` + text + `}}`)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	all, mine := &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Sometimes"}}}
	everything := Rules{rule("*", "*", "*", "*")}
	reader := readerFunc(func(name string) (document.Value, error) {
		switch name {
		case "n":
			return labelled(`{"a":"b"}`), nil
		case "broken":
			return document.Value{}, errors.New("no")
		}
		return document.Value{}, nil
	})
	in := func(namespace string, object document.Value) *Record {
		q := attributes(configMaps, "")
		q.Namespace, q.Object = namespace, object
		return q
	}
	ofNamespace := attributes(spaces, "")
	ofNamespace.Object = labelled(`{"a":"b"}`)
	ofOther := attributes(spaces, "")
	ofOther.Object = labelled(`{"a":"c"}`)
	old := in("n", labelled(`{}`))
	old.OldObject = labelled(`{"a":"b"}`)
	for _, test := range []struct {
		name             string
		inside, labelled *metav1.LabelSelector
		except           Rules
		record           *Record
		want             string
	}{
		{"all", all, all, nil, in("n", labelled(`{}`)), "true <nil>"},
		{"labels", all, mine, nil, in("n", labelled(`{"a":"b"}`)), "true <nil>"},
		{"other labels", all, mine, nil, in("n", labelled(`{"a":"c"}`)), "false <nil>"},
		{"old labels", all, mine, nil, old, "true <nil>"},
		{"a namespace", mine, all, nil, in("n", labelled(`{}`)), "true <nil>"},
		{"no such namespace", mine, all, nil, in("none", labelled(`{}`)), `false namespaces "none" not found`},
		{"a namespace that can't be read", mine, all, nil, in("broken", labelled(`{}`)), "false Internal error occurred: no"},
		{"a namespace itself", mine, all, nil, ofNamespace, "true <nil>"},
		{"another namespace itself", mine, all, nil, ofOther, "false <nil>"},
		{"excepted", all, all, Rules{rule("CREATE", "", "v1", "configmaps")}, in("n", labelled(`{}`)), "false <nil>"},
		{"no selector selects nothing", nil, all, nil, in("n", labelled(`{}`)), "false <nil>"},
		{"a broken selector", all, broken, nil, in("n", labelled(`{}`)), `false Internal error occurred: "Sometimes" is not a valid label selector operator`},
		{"a webhook configuration is exempt", all, all, nil, attributes(hooks, ""), "false <nil>"},
	} {
		criteria := NewCriteria(everything, nil, test.inside, test.labelled)
		criteria.Exclude = test.except
		test.record.Reader = reader
		_, ok, err := criteria.Match(t.Context(), test.record)
		if got := fmt.Sprint(ok, " ", err); got != test.want {
			t.Errorf("%s: Match() = %s, want %s", test.name, got, test.want)
		}
	}
	if none := NewCriteria(nil, nil, all, all); none.MayMatch(attributes(configMaps, "").Resource, Create) {
		t.Error("MayMatch of criteria without rules = true, want false")
	}
}
