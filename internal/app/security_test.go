package app

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/auth/authnconfig"
	"github.com/cadastre/cadastre/internal/auth/authtest"
	"github.com/cadastre/cadastre/internal/server"
)

// TestAnonymousRequests checks that requests without credentials have the rights of system:unauthenticated, and that invalid
// credentials do not become anonymous.
func TestAnonymousRequests(t *testing.T) {
	c := start(t, Config{}, `secret-token,alice,1,"team"`)
	nobody := c.withToken("")
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/version"} {
		nobody.call("GET", path, "").want(200)
	}
	for _, path := range []string{"/api", "/apis", "/openapi/v2", "/metrics", "/nothing", configMaps, "/healthz/../api"} {
		nobody.call("GET", path, "").want(403, `User \"system:anonymous\" cannot`)
	}
	nobody.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}").want(403)
	c.withToken("wrong").call("GET", "/version", "").want(401, "Unauthorized")
	alice := c.withToken("secret-token")
	alice.call("GET", "/apis", "").want(200) // all authenticated users may read discovery
	alice.call("GET", configMaps, "").want(403, `configmaps is forbidden: User \"alice\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"`)
	alice.call("GET", "/apis/apps/v1/namespaces/default/nothings", "").want(403) // the 403 does not reveal whether the resource exists
}

// TestWithoutAnonymousRequests checks that requests without credentials are rejected if they are disabled, also at health endpoints.
func TestWithoutAnonymousRequests(t *testing.T) {
	no := false
	nobody := start(t, Config{Authentication: authnconfig.Options{Anonymous: &no}}).withToken("")
	for _, path := range []string{"/readyz", "/version", "/api"} {
		nobody.call("GET", path, "").want(401, "Unauthorized")
	}
	file := authtest.WriteFile(t, "config.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true, conditions: [{path: /readyz}]}\n")
	nobody = start(t, Config{Authentication: authnconfig.Options{ConfigFile: file}}).withToken("")
	nobody.call("GET", "/readyz", "").want(200, "ok")
	for _, path := range []string{"/version", "/livez", "/readyz/ping", "/readyz/", "//readyz", "/%72eadyz/x"} {
		nobody.call("GET", path, "").want(401, "Unauthorized")
	}
}

// TestRoles checks that a RoleBinding takes effect for the next request, that an apply that creates an object requires the
// verbs patch and create, and that users cannot escalate their privileges.
func TestRoles(t *testing.T) {
	c := start(t, Config{}, `token-a,alice,1,"team"`)
	alice := c.withToken("token-a")
	role := func(verbs string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":[` + verbs + `]}]}`
	}
	const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	c.call("POST", roles+"roles", role(`"patch"`)).want(201)
	c.call("POST", roles+"rolebindings", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b"},`+
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"team"}]}`).want(201)
	alice.apply(configMaps+"/x", "m", configMap("x")).want(403, "cannot create")
	c.call("PUT", roles+"roles/r", role(`"patch","create"`)).want(200)
	alice.apply(configMaps+"/x", "m", configMap("x")).want(201)
	alice.call("DELETE", configMaps+"/x", "").want(403)
	c.call("PUT", roles+"roles/r", role(`"*"`)).want(200)
	alice.call("DELETE", configMaps+"/x", "").want(200)
	alice.call("GET", "/api/v1/configmaps", "").want(403, "at the cluster scope")

	// Users cannot grant permissions that they do not hold.
	c.call("POST", roles+"rolebindings", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"admin"},`+
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"admin"},"subjects":[{"kind":"Group","name":"team"}]}`).want(201)
	secrets := strings.Replace(strings.Replace(role(`"*"`), "configmaps", "*", 1), `"name":"r"`, `"name":"all"`, 1)
	alice.call("POST", roles+"roles", secrets).want(403, "is attempting to grant RBAC permissions not currently held")
	alice.apply(roles+"roles/all", "m", secrets).want(403, "is attempting to grant RBAC permissions not currently held")

	// Access reviews report the permissions that the bindings above grant.
	review := `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"namespace":"default","verb":"get","resource":"secrets"}}}`
	alice.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review).want(201, `"allowed":true`)
	alice.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=Some", review).want(422, "dryRun: Unsupported value")
	alice.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`).want(201, `"username":"alice"`)
	c.call("GET", configMaps, "", "Impersonate-User: bob").want(403, `User \"bob\"`)
	alice.call("GET", configMaps, "", "Impersonate-User: bob").want(403, `cannot impersonate`)
}

// TestRolesByName checks that a rule with resourceNames allows to list and watch the named object with a field selector on
// metadata.name, but not deletecollection.
func TestRolesByName(t *testing.T) {
	c := start(t, Config{}, `token-a,alice,1,"team"`)
	alice := c.withToken("token-a")
	const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	c.call("POST", roles+"roles", `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["mine"],"verbs":["*"]}]}`).want(201)
	c.call("POST", roles+"rolebindings", `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"team"}]}`).want(201)
	c.call("POST", configMaps, configMap("mine")).want(201)
	const mine = configMaps + "?fieldSelector=metadata.name%3Dmine"
	alice.call("GET", mine, "").want(200, `"name":"mine"`)
	alice.call("GET", mine+"&watch=true&timeoutSeconds=1", "").want(200, `"name":"mine"`)
	alice.call("GET", configMaps, "").want(403, "cannot list")
	alice.call("GET", configMaps+"?fieldSelector=metadata.name!%3Dmine", "").want(403, "cannot list")
	alice.call("DELETE", mine, "").want(403, "cannot deletecollection")
	alice.call("DELETE", configMaps+"/mine", "").want(200)
}

// TestRevocation checks that a user has lost permissions as soon as the deletion of the RoleBinding is acknowledged.
func TestRevocation(t *testing.T) {
	c := start(t, Config{}, `token-a,alice,1,"team"`)
	alice := c.withToken("token-a")
	const bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
	for i := range 60 {
		c.call("POST", bindings, `{"metadata":{"name":"b","finalizers":["example.com/f"]},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"team"}]}`).want(201)
		alice.call("GET", configMaps, "").want(200)
		switch i % 3 {
		case 0:
			c.call("DELETE", bindings+"/b", "").want(200)
			c.call("PATCH", bindings+"/b", `{"metadata":{"finalizers":null}}`, "Content-Type: "+mergeType).want(200)
		case 1:
			c.call("PATCH", bindings+"/b", `{"metadata":{"finalizers":null}}`, "Content-Type: "+mergeType).want(200)
			c.call("DELETE", bindings+"/b", "").want(200)
		case 2:
			c.call("PATCH", bindings+"/b", `{"metadata":{"finalizers":null}}`, "Content-Type: "+mergeType).want(200)
			c.call("DELETE", bindings, "").want(200)
		}
		alice.call("GET", configMaps, "").want(403)
	}
}

// TestPathsWithEmptySegments checks that a delete whose path contains an empty name does not delete all objects.
func TestPathsWithEmptySegments(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`).want(201)
	c.call("DELETE", "/apis/apps/v1/namespaces/default/deployments//status", "").want(404)
	c.call("GET", "/apis/apps/v1/namespaces/default/deployments/d", "").want(200)

	// The deprecated watch paths accept only GET.
	const watched = "/apis/apps/v1/watch/namespaces/default/deployments"
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		c.call(method, watched, "{}").want(405)
		c.call(method, watched+"/d", "{}").want(405)
	}
	c.call("GET", watched+"/d?timeoutSeconds=1", "").want(200, `"type":"ADDED"`)
}

// TestLimits checks the maximum size of bodies and, without priority and fairness, the maximum number of concurrent requests.
func TestLimits(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	c := start(t, Config{
		Limits: server.Limits{MaxBodyBytes: 1000}, MaxWritesInFlight: 1, WithoutFairness: true,
		Handlers: map[string]http.Handler{"/hold": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-release
		})},
	}, `token-a,alice,1,"team"`)
	c.call("POST", configMaps, configMap("large", "a", strings.Repeat("x", 1000))).want(413, "limit is 1000")
	c.bind("cluster-admin", "team")
	alice := c.withToken("token-a")
	var group sync.WaitGroup
	group.Go(func() { alice.call("POST", "/hold", "").want(200) })
	<-entered
	refused := alice.call("POST", configMaps, configMap("second")).want(429, "TooManyRequests")
	if refused.header.Get("Retry-After") == "" {
		t.Error("429 without a Retry-After header, want one")
	}
	alice.call("GET", configMaps, "").want(200)
	c.call("GET", "/metrics", "").want(200, terminatedMetric(429, "POST"))
	c.call("POST", configMaps, configMap("admin")).want(201) // the limits do not apply to system:masters
	close(release)
	group.Wait()
}

// bind binds a ClusterRole to a group.
func (c *client) bind(role, group string) {
	c.t.Helper()
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"`+role+`-`+group+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+
		role+`"},"subjects":[{"kind":"Group","name":"`+group+`"}]}`).want(201)
}

// terminatedMetric returns the metric of rejected and aborted requests for ConfigMaps, without its value.
func terminatedMetric(code int, verb string) string {
	return fmt.Sprintf("apiserver_request_terminations_total{code=\"%d\",component=\"apiserver\",group=\"\",resource=\"configmaps\",scope=\"resource\",subresource=\"\",verb=%q,version=\"v1\"}", code, verb)
}

// TestAbortedRequestMetric checks that requests whose client disconnects are counted as aborted, and that slow requests that
// are answered are not.
func TestAbortedRequestMetric(t *testing.T) {
	c := start(t, Config{})
	c.call("GET", configMaps+"/c?resourceVersion=99999999", "").want(504, "Too large resource version")
	if metrics := c.call("GET", "/metrics", ""); strings.Contains(metrics.text, "terminations_total{") {
		t.Errorf("a request that the server has answered is counted as aborted, want it not to be counted")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the request arrives, but the server does not respond, within a second
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", c.url+configMaps+"/c?resourceVersion=99999999", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.http.Do(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("request that the client aborts: received error %v, want %v", err, context.DeadlineExceeded)
	}
	c.waitFor("/metrics", 200, terminatedMetric(504, "GET")+" 1")
}

// TestSlowClients checks that the server ends responses that the client does not read.
func TestSlowClients(t *testing.T) {
	const limit = time.Second // enough for requests whose client reads the response
	c := start(t, Config{Limits: server.Limits{RequestTimeout: limit}}, `token-a,alice,1,"team"`)
	c.bind("view", "team")
	for i := range 6 { // together larger than the flow-control window of a client
		c.call("POST", configMaps, configMap(fmt.Sprint("large-", i), "a", strings.Repeat("x", 1000<<10))).want(201)
	}
	alice := c.withToken("token-a")
	for name, query := range map[string]string{"a list": "", "a watch": "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"} {
		t.Run(name, func(t *testing.T) {
			unread := alice.withT(t).open("GET", configMaps+query, "", "Accept-Encoding: identity") // not compressed, because a compressed response would fit into the window
			defer unread.Body.Close()
			c.withT(t).waitIdle()
			alice.withT(t).call("GET", configMaps+"/large-0", "").want(200)
			stuck := time.AfterFunc(20*time.Second, func() {
				t.Error("the response has not ended 20 s after the write timeout")
				unread.Body.Close()
			})
			defer stuck.Stop()
			if _, err := io.Copy(io.Discard, unread.Body); err == nil {
				t.Error("the response is complete, want it to be aborted after the write timeout")
			}
		})
	}
}

// TestCostlyQuantities checks that quantities with large exponents, which are expensive to parse, are rejected without being
// parsed.
func TestCostlyQuantities(t *testing.T) {
	c := start(t, Config{})
	const costly = "1e-999999999"
	container := func(resources string) string {
		return `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1",` + resources + `}}}]}}`
	}
	c.call("POST", "/api/v1/namespaces/default/pods", container(`"memory":"`+costly+`"`)).want(400, "exponent of at most 3 digits")
	c.call("POST", "/api/v1/namespaces/default/pods", container(`"hugepages-`+costly+`":"1"`)).want(422, "is not positive integer multiple")
	metrics := `[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"D\",\"name\":\"x\"},\"metricName\":\"x\",\"targetValue\":\"` + costly + `\",\"averageValue\":\"1\"}}]`
	c.call("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
		`{"metadata":{"name":"h","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"`+metrics+`"}},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"D","name":"x"}}}`).want(201) // annotations are not validated
	c.call("GET", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1").want(200)
}

// TestSecretsAreNotLogged checks that the log contains neither tokens nor values of Secrets.
func TestSecretsAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	c := start(t, Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, `very-secret,alice,1,"team"`)
	c.withToken("very-secret").call("GET", "/api/v1/secrets", "").want(403)
	c.withToken("wrong-secret").call("GET", "/api/v1/secrets", "").want(401)
	c.call("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"},"stringData":{"password":"hidden-word"}}`).want(201)
	c.call("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"},"stringData":{"password":["hidden-word"]}}`).want(400)
	for _, word := range []string{"very-secret", "wrong-secret", "hidden-word"} {
		if strings.Contains(log.String(), word) {
			t.Errorf("the log contains %q, want no secrets:\n%s", word, &log)
		}
	}
}

// TestClientErrorsAreNotLogged checks that requests which fail with a client error are not logged, except for refused credentials.
func TestClientErrorsAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	c := start(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	c.call("GET", configMaps+"/c?resourceVersion=99999999", "").want(504, "Too large resource version")
	c.call("POST", configMaps, "{").want(400)
	if log.Len() > 0 {
		t.Errorf("log after client errors =\n%s\nwant an empty log", &log)
	}
	c.withToken("wrong").call("GET", configMaps, "").want(401)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "authentication failed") {
		t.Errorf("log after a refused token =\n%s\nwant one line with authentication failed", got)
	}
}

// TestSecretsAreNotInErrors checks that errors, which clients may log, do not contain values of Secrets.
func TestSecretsAreNotInErrors(t *testing.T) {
	c := start(t, Config{})
	const path = "/api/v1/namespaces/default/secrets/s"
	secret := func(value string) string {
		return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"` + value + `"}}`
	}
	c.apply(path, "one", secret("aGlkZGVu")).want(201)
	for _, refused := range []*testResponse{
		c.apply(path, "two", secret("c2VjcmV0")).want(409, `the field is a string that is not shown, and would become a string that is not shown`),
		c.call("PATCH", path, `[{"op":"test","path":"/data/password","value":"c2VjcmV0"}]`, "Content-Type: application/json-patch+json").want(422, "not shown"),
		c.call("PATCH", path, `[{"op":"add","path":"/data/password/x","value":"c2VjcmV0"}]`, "Content-Type: application/json-patch+json").want(422, "[0].path"),
		c.apply(path, "two", strings.Replace(secret("x"), `"x"`, `["c2VjcmV0"]`, 1)).want(400, `.data.password: expected a string`),
		c.apply(path, "two", strings.Replace(secret("x"), `"data"`, `"date":"aGlkZGVu","data"`, 1)).want(400, `field not declared in schema`),
	} {
		if strings.Contains(refused.text, "aGlkZGVu") || strings.Contains(refused.text, "c2VjcmV0") {
			t.Errorf("the error contains a value of the Secret: %s", refused.text)
		}
	}
}

// TestMissingBody checks that the server responds within the request timeout if the client does not send the announced body,
// even if no handler reads the body.
func TestMissingBody(t *testing.T) {
	c := start(t, Config{Limits: server.Limits{RequestTimeout: 300 * time.Millisecond, MaxBodyBytes: 1000}})
	known := c.http.Transport.(*http.Transport).TLSClientConfig.Clone()
	known.NextProtos = []string{"http/1.1"}
	unknown := known.Clone()
	unknown.Certificates = nil
	for _, test := range []struct {
		name    string
		secrets *tls.Config
		method  string
		bytes   int
		code    int
	}{
		{"too large", known, "POST", 1500, 413},
		{"read by the handler", known, "POST", 500, 400},
		{"not read by the handler", known, "GET", 500, 200},
		{"not authorized", unknown, "POST", 500, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := tls.Dial("tcp", strings.TrimPrefix(c.url, "https://"), test.secrets)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", test.method, configMaps, test.bytes)
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("ReadResponse() = %v, want a response", err)
			}
			answer.Body.Close()
			if answer.StatusCode != test.code {
				t.Errorf("status code of the response = %d, want %d", answer.StatusCode, test.code)
			}
		})
	}
}
