package serverbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// PolicyState is a configuration of MutatingAdmissionPolicies under which the update of a Deployment is measured.
type PolicyState struct {
	Name string
	// resource is the apiGroup and resource that a policy matches; "" if there is no policy.
	group, resource string
}

// PolicyStates lists the states: without a policy, with a policy for another resource, with a policy for Deployments.
var PolicyStates = []PolicyState{
	{"policy/none", "", ""},
	{"policy/other", "", "secrets"},
	{"policy/matching", "apps", "deployments"},
}

// mutatedAnnotation is the annotation that the policy sets.
const mutatedAnnotation = "bench.example.com/mutated"

// policy returns the specification of a typical policy: a match condition, a variable, and an apply configuration.
func (p PolicyState) policy() string {
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy","metadata":{"name":"bench"},"spec":{`+
		`"matchConstraints":{"resourceRules":[{"apiGroups":[%q],"apiVersions":["v1"],"resources":[%q],"operations":["CREATE","UPDATE"]}]},`+
		`"matchConditions":[{"name":"not-exempt","expression":"!('bench.example.com/exempt' in object.metadata.?labels.orValue({}))"}],`+
		`"variables":[{"name":"team","expression":"object.metadata.?labels['team'].orValue('none')"}],`+
		`"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":`+
		`"Object{metadata: Object.metadata{annotations: {\"%s\": \"by \" + variables.team}}}"}}]}}`, p.group, p.resource, mutatedAnnotation)
}

const (
	registrationPath = "/apis/admissionregistration.k8s.io/v1/"
	policyBinding    = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicyBinding","metadata":{"name":"bench"},"spec":{"policyName":"bench"}}`
)

// PreparePolicies creates the objects that are updated.
func PreparePolicies(ctx context.Context, s *Server, clients int) error {
	return prepareOwn("policy")(ctx, s, clients)
}

// Set replaces the policies of a server by those of the state, and waits until the policies of the state, and no others, mutate
// Deployments.
func (p PolicyState) Set(ctx context.Context, s *Server) error {
	c := s.NewClient()
	defer c.Close()
	for _, resource := range []string{"mutatingadmissionpolicybindings", "mutatingadmissionpolicies"} {
		_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: registrationPath + resource + "/bench"})
		var status *StatusError
		if err != nil && (!errors.As(err, &status) || status.Code != http.StatusNotFound) {
			return err
		}
	}
	if p.resource != "" {
		if _, err := c.Do(ctx, write("POST", registrationPath+"mutatingadmissionpolicies", jsonType, []byte(p.policy()))); err != nil {
			return err
		}
		if _, err := c.Do(ctx, write("POST", registrationPath+"mutatingadmissionpolicybindings", jsonType, []byte(policyBinding))); err != nil {
			return err
		}
	}
	return p.wait(ctx, c)
}

// wait waits until a dry run of a create request is mutated, or until it is not, depending on the state. kube-apiserver reads
// policies with a delay of up to a second.
func (p PolicyState) wait(ctx context.Context, c *Client) error {
	const pause = 50 * time.Millisecond
	request := objectKey{workNamespace, "probe"}.create(0)
	request.Path += "&dryRun=All"
	for {
		answer, err := c.Do(ctx, request)
		if err != nil {
			return err
		}
		if bytes.Contains(answer, []byte(mutatedAnnotation)) == (p.resource == "deployments") {
			return nil
		}
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// Run measures updates of Deployments under the load. The caller has called PreparePolicies and Set.
func (p PolicyState) Run(ctx context.Context, s *Server, l Load) (Result, error) {
	return l.run(ctx, s, do(func(w *worker) Request { return w.own("policy").update(w.server.unusedVersion()) }))
}
