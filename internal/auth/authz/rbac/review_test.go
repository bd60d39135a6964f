package rbac

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// reviewer returns a Reviewer for which alice may get pods, and which authenticates the token t0 as bob.
func reviewer(t *testing.T) *Reviewer {
	t.Helper()
	w := newKit(t)
	w.role("", "pods", "get core pods", "get - /x", "create apps deployments names=a")
	w.bind("", "all", "pods", "user:alice")
	w.bind("red", "dev", "pods", "group:dev")
	w.bind("red", "lost", "none", "user:alice")
	tokens := authenticator.TokenFunc(func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		if token == "t0" {
			return &authenticator.Response{User: newUser("bob", "dev")}, true, nil
		}
		return nil, false, errors.New("not known")
	})
	return &Reviewer{Authorizer: w.Authorizer, Rules: []authorizer.Authorizer{w.Authorizer}, Tokens: tokens}
}

func TestAccessReviews(t *testing.T) {
	r := reviewer(t)
	const allowed, lost = `"allowed":true`, `clusterrole.rbac.authorization.k8s.io \"none\" not found`
	for _, test := range []struct{ name, resource, namespace, body, want string }{
		{"self", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, `"status":{"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"pods\" to User \"alice\""}`},
		{"self, with its kind", "selfsubjectaccessreviews", "", `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}},"status"`},
		{"self, not allowed", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}`, `"status":{"allowed":false}`},
		{"self, a role is missing", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"verb":"list","resource":"pods","namespace":"red"}}}`, lost},
		{"self, path", "selfsubjectaccessreviews", "", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x"}}}`, allowed},
		{"self, status is ignored", "selfsubjectaccessreviews", "", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/y"}},"status":{"allowed":true}}`, `"allowed":false`},
		{"self, bad selectors", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","labelSelector":{"rawSelector":"=!"},"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"a","operator":"Exists"}]}}}}`,
			`"evaluationError":"spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error"`},
		{"self, good selectors", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","labelSelector":{"rawSelector":"a=b"},"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}}}}`, `to User \"alice\""}`},
		{"other", "subjectaccessreviews", "", `{"spec":{"user":"eve","groups":["dev"],"resourceAttributes":{"verb":"get","resource":"pods","namespace":"red"}}}`, allowed},
		{"other, elsewhere", "subjectaccessreviews", "", `{"spec":{"user":"eve","groups":["dev"],"resourceAttributes":{"verb":"get","resource":"pods","namespace":"blue"}}}`, `"allowed":false`},
		{"other, only a group", "subjectaccessreviews", "", `{"spec":{"groups":["dev"],"resourceAttributes":{"verb":"get","resource":"pods","namespace":"red"}}}`, allowed},
		{"local", "localsubjectaccessreviews", "red", `{"metadata":{"namespace":"red"},"spec":{"groups":["dev"],"resourceAttributes":{"verb":"get","resource":"pods","namespace":"red"}}}`, allowed},
		{"local, namespace of the request", "localsubjectaccessreviews", "red", `{"spec":{"groups":["dev"],"resourceAttributes":{"verb":"get","resource":"pods","namespace":"red"}}}`, allowed},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := r.Review(t.Context(), newUser("alice"), test.resource, test.namespace, []byte(test.body))
			if err != nil || !strings.Contains(string(answer), test.want) {
				t.Errorf("Review() = %s, %v, want %s", answer, err, test.want)
			}
		})
	}
}

func TestInvalidReviews(t *testing.T) {
	r := reviewer(t)
	for _, test := range []struct{ name, resource, namespace, body, want string }{
		{"no attributes", "selfsubjectaccessreviews", "", `{}`, `.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`},
		{"both attributes", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{},"nonResourceAttributes":{}}}`, "spec.nonResourceAttributes: Invalid value"},
		{"named", "selfsubjectaccessreviews", "", `{"metadata":{"name":"x"},"spec":{"resourceAttributes":{}}}`, "must be empty"},
		{"no subject", "subjectaccessreviews", "", `{"spec":{"resourceAttributes":{}}}`, `spec.user: Invalid value: "": at least one of user or group must be specified`},
		{"two selectors", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"labelSelector":{"rawSelector":"a","requirements":[{"key":"a","operator":"Exists"}]}}}}`, "spec.resourceAttributes.labelSelector.rawSelector"},
		{"no selector", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"fieldSelector":{}}}}`, "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required"},
		{"bad requirement", "selfsubjectaccessreviews", "", `{"spec":{"resourceAttributes":{"labelSelector":{"requirements":[{"key":"a","operator":"In"}]}}}}`, "requirements[0].values: Required value"},
		{"local, path", "localsubjectaccessreviews", "red", `{"spec":{"user":"a","nonResourceAttributes":{}}}`, "disallowed on this kind of request"},
		{"local, elsewhere", "localsubjectaccessreviews", "red", `{"spec":{"user":"a","resourceAttributes":{"namespace":"blue"}}}`, `spec.resourceAttributes.namespace: Invalid value: "blue": must match metadata.namespace`},
		{"local, of another namespace", "localsubjectaccessreviews", "red", `{"metadata":{"namespace":"blue"},"spec":{"user":"a","resourceAttributes":{"namespace":"blue"}}}`, "must match namespace: red"},
		{"local, named", "localsubjectaccessreviews", "red", `{"metadata":{"name":"x"},"spec":{"user":"a","resourceAttributes":{"namespace":"red"}}}`, "must be empty except for namespace"},
		{"rules of no namespace", "selfsubjectrulesreviews", "", `{"spec":{}}`, "no namespace on request"},
		{"no token", "tokenreviews", "", `{"spec":{}}`, "token is required"},
		{"another kind", "tokenreviews", "", `{"kind":"Pod","apiVersion":"v1"}`, "expected authentication.k8s.io/v1, Kind=TokenReview, received /v1, Kind=Pod"},
		{"not an object", "tokenreviews", "", `7`, "cannot unmarshal"},
		{"wrong type", "subjectaccessreviews", "", `{"spec":7}`, "cannot unmarshal"},
		{"no review", "pods", "", `{}`, "expected a review"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := r.Review(t.Context(), newUser("alice"), test.resource, test.namespace, []byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Errorf("Review() = %s, %v, want a 400 or 422 with %s", answer, err, test.want)
			}
		})
	}
}

// review calls Review and decodes the returned object into target, a pointer.
func review(t *testing.T, r *Reviewer, u *authn.User, resource, body string, target any) {
	t.Helper()
	answer, err := r.Review(t.Context(), u, resource, "", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, target); err != nil {
		t.Fatal(err)
	}
}

func TestRulesReview(t *testing.T) {
	var got authorizationv1.SelfSubjectRulesReview
	review(t, reviewer(t), newUser("alice", "dev"), "selfsubjectrulesreviews", `{"spec":{"namespace":"red"}}`, &got)
	if len(got.Status.ResourceRules) != 4 || len(got.Status.NonResourceRules) != 2 || got.Status.Incomplete || got.Kind != "SelfSubjectRulesReview" ||
		!strings.Contains(got.Status.EvaluationError, `"none" not found`) || got.Status.ResourceRules[1].ResourceNames[0] != "a" {
		t.Errorf("SelfSubjectRulesReview: received %+v, want 4 resource rules, 2 non-resource rules and the missing role", got)
	}
}

func TestRulesReviewWithoutRules(t *testing.T) {
	answer, err := reviewer(t).Review(t.Context(), newUser("eve"), "selfsubjectrulesreviews", "", []byte(`{"spec":{"namespace":"red"}}`))
	if err != nil || !strings.Contains(string(answer), `"resourceRules":[],"nonResourceRules":[]`) {
		t.Errorf("Review() = %s, %v, want empty lists of rules", answer, err)
	}
}

func TestSelfReview(t *testing.T) {
	var got authenticationv1.SelfSubjectReview
	asker := &authn.User{Name: "alice", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"a": {"b"}}}
	review(t, reviewer(t), asker, "selfsubjectreviews", `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`, &got)
	if info := got.Status.UserInfo; info.Username != "alice" || info.UID != "7" || info.Groups[0] != "dev" || info.Extra["a"][0] != "b" {
		t.Errorf("SelfSubjectReview: received %+v, want the attributes of %+v", got, asker)
	}
	if time.Since(got.CreationTimestamp.Time) > time.Minute {
		t.Errorf("SelfSubjectReview: creationTimestamp = %v, want now", got.CreationTimestamp)
	}
}

func TestTokenReview(t *testing.T) {
	var good, bad authenticationv1.TokenReview
	r := reviewer(t)
	review(t, r, newUser("alice"), "tokenreviews", `{"spec":{"token":"t0"}}`, &good)
	if !good.Status.Authenticated || good.Status.User.Username != "bob" || good.Status.User.Groups[0] != "dev" {
		t.Errorf("TokenReview of a valid token: received %+v, want user bob", good)
	}
	review(t, r, newUser("alice"), "tokenreviews", `{"spec":{"token":"t1"},"status":{"authenticated":true,"user":{"username":"root"}}}`, &bad)
	if bad.Status.Authenticated || bad.Status.Error == "" || bad.Status.User.Username != "" {
		t.Errorf("TokenReview of an invalid token: received %+v, want an error and no user", bad)
	}
}

func TestIsReview(t *testing.T) {
	if !IsReview("authorization.k8s.io", "subjectaccessreviews") || IsReview("", "subjectaccessreviews") || IsReview("authorization.k8s.io", "pods") {
		t.Error("IsReview() is not true for subjectaccessreviews of authorization.k8s.io only")
	}
}
