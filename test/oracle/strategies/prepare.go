package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// printPrepared prints the object that kube-apiserver would store for a write request. The fields of line describe the request:
// RESOURCE, ENDPOINT, OBJECT and LIVE, the existing object.
func printPrepared(line string) error {
	words := strings.Split(line, "\t")
	if len(words) != 4 {
		return fmt.Errorf("expected RESOURCE, ENDPOINT, OBJECT and LIVE, received %d fields", len(words))
	}
	for _, e := range writeEndpoints {
		if e.resource == words[0] && e.name == words[1] {
			return e.printPrepared(words[2], words[3])
		}
	}
	return fmt.Errorf("expected a RESOURCE and ENDPOINT of writeEndpoints, received %s %s", words[0], words[1])
}

func (e writeEndpoint) printPrepared(sent, existing string) error {
	obj, sent, err := e.read(sent)
	if err != nil {
		return err
	}
	live, existing, err := e.read(existing)
	if err != nil {
		return err
	}
	if live == nil {
		s := e.strategy.(rest.RESTCreateStrategy)
		s.PrepareForCreate(e.context(), obj)
		s.Canonicalize(obj)
	} else if err := e.update(obj, live); err != nil {
		return err
	}
	result, err := e.write(obj)
	if err != nil {
		return err
	}
	today := regexp.MustCompile(time.Now().UTC().Format(`"2006-01-02T[0-9:]*Z"`))
	fmt.Printf("%s\t%s\t%s\t%s\n=\t%s\n", e.resource, e.name, sent, existing, today.ReplaceAllString(result, `"2026-02-03T03:05:06Z"`))
	return nil
}

// update modifies obj as kube-apiserver does before validation: it runs the strategy of e, and the parts of the generic
// update that affect the result, with which clients can neither set the generation nor remove a deletionTimestamp.
func (e writeEndpoint) update(obj, live runtime.Object) error {
	now, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	before, err := meta.Accessor(live)
	if err != nil {
		return err
	}
	s := e.strategy.(rest.RESTUpdateStrategy)
	now.SetGeneration(before.GetGeneration())
	s.PrepareForUpdate(e.context(), obj, live)
	if !before.GetDeletionTimestamp().IsZero() {
		now.SetDeletionTimestamp(before.GetDeletionTimestamp())
	}
	s.Canonicalize(obj)
	return nil
}

// context returns the context of a request by the user that the unit tests use.
func (e writeEndpoint) context() context.Context {
	v := schema.FromAPIVersionAndKind(e.version, e.kind)
	ctx := request.WithUser(request.NewContext(), &user.DefaultInfo{Name: "ann", Groups: []string{"dev", "ops"}, Extra: map[string][]string{"x": {"y"}}})
	return request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: v.Group, APIVersion: v.Version})
}

// read parses text, sets defaults, and returns the internal object and its encoding by Kubernetes. For "-" it returns a
// nil object.
func (e writeEndpoint) read(text string) (runtime.Object, string, error) {
	if text == "-" {
		return nil, text, nil
	}
	external, err := legacyscheme.Scheme.New(schema.FromAPIVersionAndKind(e.version, e.kind))
	if err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal([]byte(text), external); err != nil {
		return nil, "", err
	}
	legacyscheme.Scheme.Default(external)
	obj, err := legacyscheme.Scheme.ConvertToVersion(external, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, "", err
	}
	text, err = e.write(obj)
	return obj, text, err
}

// write returns obj as Kubernetes encodes it in responses.
func (e writeEndpoint) write(obj runtime.Object) (string, error) {
	external, err := legacyscheme.Scheme.ConvertToVersion(obj.DeepCopyObject(), schema.FromAPIVersionAndKind(e.version, e.kind).GroupVersion())
	if err != nil {
		return "", err
	}
	legacyscheme.Scheme.Default(external)
	text, err := json.Marshal(external)
	return string(text), err
}
