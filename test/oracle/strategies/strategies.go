package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// printStrategies prints what strategies say: whether PUT creates, and needs no version, what becomes
// of dependents, and the reset fields at each version.
func printStrategies() error {
	fmt.Println("# What the strategies of Kubernetes say. Made by oracle, which see.")
	for _, e := range places {
		update := e.strategy.(rest.RESTUpdateStrategy)
		facts := []string{
			fmt.Sprintf("creates=%v", update.AllowCreateOnUpdate()),
			fmt.Sprintf("unconditional=%v", update.AllowUnconditionalUpdate()),
		}
		if s, ok := e.strategy.(rest.GarbageCollectionDeleteStrategy); ok {
			v := schema.FromAPIVersionAndKind(e.version, e.kind)
			ctx := request.WithRequestInfo(context.Background(), &request.RequestInfo{APIGroup: v.Group, APIVersion: v.Version})
			facts = append(facts, fmt.Sprintf("dependents=%s", s.DefaultGarbageCollectionPolicy(ctx)))
		}
		reset, err := resetFields(e)
		if err != nil {
			return err
		}
		fmt.Printf("%s\t%s\t%s\n", e.resource, e.name, strings.Join(append(facts, reset...), " "))
	}
	return nil
}

func resetFields(e place) (facts []string, err error) {
	s, ok := e.strategy.(rest.ResetFieldsStrategy)
	if !ok {
		return nil, nil
	}
	for version, fields := range s.GetResetFields() {
		text, err := fields.ToJSON()
		if err != nil {
			return nil, err
		}
		facts = append(facts, fmt.Sprintf("%s=%s", version, text))
	}
	sort.Strings(facts)
	return facts, nil
}
