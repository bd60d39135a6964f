package material

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// timeout is the maximum time until a kind must be served.
const timeout = time.Minute

// Unchanged is the result of a second apply that did not change the object.
const Unchanged = "unchanged"

// Observation is a response of a server, normalized so that responses of different servers can be compared.
type Observation struct {
	Name    string // describes the request
	Outcome string // a summary of the response
	Text    string // the complete response without times and revisions
	Again   string // the result of a second apply, or "" if there was none
}

// observer collects the observations of one server.
type observer struct {
	*Server
	manifest     *Manifest
	observations []Observation
	listed       map[string]bool // definitions whose objects kubectl has already listed
}

// Observe installs the CustomResourceDefinitions, applies the samples, and returns the observations.
func (s *Server) Observe(ctx context.Context, m *Manifest) ([]Observation, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	o := &observer{Server: s, manifest: m, listed: map[string]bool{}}
	for _, d := range m.Definitions {
		if err := o.install(ctx, d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Typed.Name, err)
		}
	}
	if err := o.observeCatalog(ctx); err != nil {
		return nil, err
	}
	for _, sample := range m.Samples {
		if err := o.observeSample(ctx, sample); err != nil {
			return nil, fmt.Errorf("%s: %w", sample.Name, err)
		}
	}
	return o.observations, nil
}

func (o *observer) add(name, outcome, text string) {
	o.observations = append(o.observations, Observation{Name: name, Outcome: outcome, Text: text})
}

// addTwice adds the observation of two applies of the same object. first and second are the responses.
func (o *observer) addTwice(name string, first, second apiResponse, text string) {
	o.observations = append(o.observations, Observation{Name: name, Outcome: fmt.Sprint(first.code), Text: text, Again: resultOfSecondApply(first, second)})
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// install applies d, waits until it is established, and applies it again.
func (o *observer) install(ctx context.Context, d Definition) error {
	address := definitionsPath + d.Typed.Name
	name := "definition " + d.Typed.Name
	a, err := o.apply(ctx, address, d.Object)
	if err != nil {
		return err
	}
	if !a.ok() {
		o.add(name, refusal(a), reasons(a.body))
		return nil
	}
	err = eventually(ctx, "the definition to be established", func() (bool, error) {
		a, err := o.request(ctx, http.MethodGet, address, "application/json", nil)
		return isTrue(a.body, "Established") && (!d.needsApproval() || isTrue(a.body, "KubernetesAPIApprovalPolicyConformant")), err
	})
	if err != nil {
		return err
	}
	first, err := o.request(ctx, http.MethodGet, address, "application/json", nil)
	if err != nil {
		return err
	}
	second, err := o.apply(ctx, address, d.Object)
	if err != nil {
		return err
	}
	o.addTwice(name, first, second, canonical(scrubbed(first.body))+warningsOf(a))
	return nil
}

// needsApproval reports whether a CustomResourceDefinition is in a protected group of the Kubernetes community.
// kube-apiserver sets its approval condition some time after Established.
func (d Definition) needsApproval() bool {
	return apihelpers.IsProtectedCommunityGroup(d.Typed.Spec.Group)
}

// isTrue reports whether a CustomResourceDefinition has the named condition with status True.
func isTrue(definition map[string]any, name string) bool {
	status, _ := definition["status"].(map[string]any)
	return slices.ContainsFunc(listOf(status["conditions"]), func(condition map[string]any) bool {
		return condition["type"] == name && condition["status"] == "True"
	})
}

// apply sends object as an apply configuration to address.
func (o *observer) apply(ctx context.Context, address string, object *unstructured.Unstructured) (apiResponse, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return apiResponse{}, err
	}
	return o.request(ctx, http.MethodPatch, address+"?fieldManager=material&force=true", "application/json", body)
}

// observeSample applies sample twice, observes it as a row of a Table, and deletes it.
func (o *observer) observeSample(ctx context.Context, sample Sample) error {
	d := o.manifest.definition(sample.Object)
	object := sample.configuration()
	address := o.address(d, object)
	first, err := o.apply(ctx, address, object)
	if err != nil {
		return err
	}
	if !first.ok() {
		o.add(sample.Name, refusal(first), reasons(first.body))
		return nil
	}
	second, err := o.apply(ctx, address, object)
	if err != nil {
		return err
	}
	o.addTwice(sample.Name, first, second, canonical(scrubbed(first.body))+warningsOf(first))
	if err := o.observeList(ctx, d, sample, address); err != nil {
		return err
	}
	_, err = o.request(ctx, http.MethodDelete, address, "application/json", nil)
	return err
}

// configuration returns the object without the fields that a server sets, without finalizers, and without
// ownerReferences. The owners do not exist, so the garbage collector would delete an object that refers to them.
func (s Sample) configuration() *unstructured.Unstructured {
	object := s.Object.DeepCopy()
	if object.GetName() == "" {
		object.SetName("sample")
	}
	metadata, _ := object.Object["metadata"].(map[string]any)
	for _, field := range []string{"namespace", "generateName", "ownerReferences", "finalizers", "uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink"} {
		delete(metadata, field)
	}
	return object
}

func (o *observer) address(d *Definition, object *unstructured.Unstructured) string {
	address := "/apis/" + object.GetAPIVersion()
	if d.Typed.Spec.Scope == "Namespaced" {
		address += "/namespaces/" + o.Namespace
	}
	return address + "/" + d.Typed.Spec.Names.Plural + "/" + object.GetName()
}

// observeList observes the object at address as a row of a Table. If it is the first object of its kind, it is also
// listed with kubectl, at every version.
func (o *observer) observeList(ctx context.Context, d *Definition, sample Sample, address string) error {
	row, err := o.request(ctx, http.MethodGet, address, table, nil)
	if err != nil {
		return err
	}
	o.add("row of "+sample.Name, fmt.Sprint(row.code), withoutAges(canonical(map[string]any{
		"columns": columns(row.body), "cells": cells(row.body),
	})))
	if o.listed[d.Typed.Name] {
		return nil
	}
	o.listed[d.Typed.Name] = true
	for _, version := range d.servedVersions() {
		text, err := o.kubectl(ctx, "get", "-o", "wide", "-n", o.Namespace, d.Typed.Spec.Names.Plural+"."+version+"."+d.Typed.Spec.Group)
		if err != nil {
			return err
		}
		text = withoutWidths(withoutAges(text))
		o.add("kubectl get "+d.Typed.Name+" "+version, firstLine(text), text)
	}
	return nil
}

// cells returns the cells of the only row of table, a Table. If there is not exactly one row, it returns all rows.
func cells(table map[string]any) any {
	rows := listOf(table["rows"])
	if len(rows) != 1 {
		return rows
	}
	return rows[0]["cells"]
}

// columns returns the columns of a Table. It removes the descriptions of common columns, whose wording differs between
// servers.
func columns(table map[string]any) []map[string]any {
	columns := listOf(table["columnDefinitions"])
	for _, column := range columns {
		if column["format"] == "name" || column["name"] == "Age" {
			delete(column, "description")
		}
	}
	return columns
}

// resultOfSecondApply returns Unchanged, "changed FIELD", or the error in after, the response to a second apply. before
// is the response to the first apply.
func resultOfSecondApply(before, after apiResponse) string {
	if after.code != http.StatusOK {
		return refusal(after)
	}
	for _, field := range []string{"resourceVersion", "managedFields"} {
		was, _, _ := unstructured.NestedFieldNoCopy(before.body, "metadata", field)
		is, _, _ := unstructured.NestedFieldNoCopy(after.body, "metadata", field)
		if !reflect.DeepEqual(was, is) {
			return "changed " + field
		}
	}
	return Unchanged
}

func refusal(a apiResponse) string {
	if violatesSchema(a.body) {
		return "not of the schema"
	}
	return fmt.Sprintf("%d %v", a.code, a.body["reason"])
}

// violatesSchema reports whether a Status is about a configuration that violates the schema, which kube-apiserver
// reports as an internal error.
func violatesSchema(status map[string]any) bool {
	message, _ := status["message"].(string)
	return strings.HasPrefix(message, "failed to create typed patch object")
}

// undeclared matches the path of a field that the schema does not define, in the messages of both servers.
var undeclared = regexp.MustCompile(`\S+: field not declared in schema`)

// reasons returns the causes in status, the response to a rejected request, or all of status if it has no causes. The
// causes are sorted, because kube-apiserver returns them in no fixed order.
func reasons(status map[string]any) string {
	details, _ := status["details"].(map[string]any)
	var lines []string
	for _, cause := range listOf(details["causes"]) {
		lines = append(lines, fmt.Sprintf("%v: %v (%v)", cause["field"], cause["message"], cause["reason"]))
	}
	if violatesSchema(status) {
		lines = undeclared.FindAllString(fmt.Sprint(status["message"]), -1)
	} else if len(lines) == 0 {
		return canonical(status)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func warningsOf(a apiResponse) string { return "\n" + strings.Join(a.warnings, "\n") }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// scrubbed returns a copy of object without the values that differ between runs: UIDs, resourceVersions, times and
// namespaces.
func scrubbed(object map[string]any) map[string]any {
	object = (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "namespace"} {
		delete(metadata, field)
	}
	for _, entry := range listOf(metadata["managedFields"]) {
		delete(entry, "time")
		if entry["subresource"] == "status" {
			delete(entry, "manager") // the manager of the server's own entries is the name of its program
		}
	}
	if status, _ := object["status"].(map[string]any); object["kind"] == "CustomResourceDefinition" {
		conditions := listOf(status["conditions"])
		for _, condition := range conditions {
			delete(condition, "lastTransitionTime")
		}
		// Sort the conditions, because the servers set them in different orders.
		slices.SortFunc(conditions, func(a, b map[string]any) int { return cmp.Compare(fmt.Sprint(b["type"]), fmt.Sprint(a["type"])) })
		status["conditions"] = conditions
	}
	return object
}

// eventually waits until condition returns true. It returns the error of condition, or an error with description after
// the timeout.
func eventually(ctx context.Context, description string, condition func() (bool, error)) error {
	for end := time.Now().Add(timeout); ; {
		holds, err := condition()
		if err != nil || holds {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("timed out waiting for: %s", description)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
