package authnconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/cadastre/cadastre/internal/auth/authtest"
	"github.com/cadastre/cadastre/internal/lib/reload"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

const audience = "the-server"

// open opens the authenticators for the duration of the test, and waits for the keys of the issuers. It returns the reloader of their
// file, which runs.
func open(t *testing.T, o Options, report func(error)) (*Authenticators, *reload.Reloader) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	files := reload.New(slog.New(slog.DiscardHandler))
	a, err := Open(ctx, o, files, report)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); files.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if err := a.current.Load().waitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return a, files
}

// configText returns an AuthenticationConfiguration for an issuer, with further lines of the issuer's configuration.
func configText(i *authtest.Issuer, lines string) string {
	ca, err := json.Marshal(i.CA())
	if err != nil {
		panic(err) // cannot happen: a string is valid JSON
	}
	return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: %q, audiences: [%q], certificateAuthority: %s}
%s`, i.URL(), audience, ca, lines)
}

const plainMappings = `  claimMappings:
    username: {claim: sub, prefix: "oidc:"}
    groups: {claim: groups, prefix: "oidc:"}
`

// authenticate returns "USER [GROUPS]" for a token that is accepted, otherwise "".
func authenticate(t *testing.T, a authenticator.Token, token string) string {
	t.Helper()
	response, ok, err := a.AuthenticateToken(t.Context(), token)
	if err != nil && strings.Contains(err.Error(), token) {
		t.Errorf("error = %v, want no token in it", err)
	}
	if !ok || err != nil {
		return ""
	}
	return fmt.Sprint(response.User.GetName(), " ", response.User.GetGroups())
}

// TestTokens checks which tokens of an issuer are accepted: attacks on the signature, the audience, the times and the types of claims.
func TestTokens(t *testing.T) {
	i, stranger := authtest.NewIssuer(t), authtest.NewIssuer(t)
	a, _ := open(t, Options{ConfigFile: authtest.WriteFile(t, "config.yaml", configText(i, plainMappings))}, nil)
	valid := i.Claims("alice", audience)
	good := i.Token(valid)
	parts := strings.Split(good, ".")
	payload := func(token string) string { return strings.Split(token, ".")[1] }
	now := time.Now()
	const alice = "oidc:alice [system:authenticated]"
	for _, test := range []struct{ name, token, want string }{
		{"valid", good, alice},
		{"groups", i.Token(valid.With(authtest.Claims{"groups": []string{"a", "b"}})), "oidc:alice [oidc:a oidc:b system:authenticated]"},
		{"one group as a string", i.Token(valid.With(authtest.Claims{"groups": "a"})), "oidc:alice [oidc:a system:authenticated]"},
		{"groups as a number", i.Token(valid.With(authtest.Claims{"groups": 7})), ""},
		{"groups as an object", i.Token(valid.With(authtest.Claims{"groups": map[string]any{"a": true}})), ""},
		{"groups with a number", i.Token(valid.With(authtest.Claims{"groups": []any{"a", 7}})), ""},
		{"groups with a list", i.Token(valid.With(authtest.Claims{"groups": []any{[]string{"a"}}})), ""},
		{"groups as null", i.Token(valid.With(authtest.Claims{"groups": json.RawMessage("null")})), alice},
		{"subject as a number", i.Token(valid.With(authtest.Claims{"sub": 7})), ""},
		{"subject of a system user", i.Token(valid.With(authtest.Claims{"sub": "system:admin"})), "oidc:system:admin [system:authenticated]"},
		{"group of administrators", i.Token(valid.With(authtest.Claims{"groups": []string{"system:masters"}})), "oidc:alice [oidc:system:masters system:authenticated]"},
		{"several audiences", i.Token(valid.With(authtest.Claims{"aud": []string{"x", audience}})), alice},
		{"another audience", i.Token(i.Claims("alice", "x")), ""},
		{"no audience", i.Token(valid.With(authtest.Claims{"aud": nil})), ""},
		{"expired", i.Token(valid.With(authtest.Claims{"exp": now.Add(-time.Minute).Unix()})), ""},
		{"without expiration", i.Token(valid.With(authtest.Claims{"exp": nil})), ""},
		{"not yet valid", i.Token(valid.With(authtest.Claims{"nbf": now.Add(time.Hour).Unix()})), ""},
		{"another issuer", stranger.Token(stranger.Claims("alice", audience)), ""},
		{"key of another issuer", stranger.Token(valid), ""},
		{"alg none", i.TokenWith("none", valid), ""},
		{"alg None without a signature", strings.TrimSuffix(i.TokenWith("None", valid), "."), ""},
		{"HS256 with the public key", i.TokenWith("HS256", valid), ""},
		{"claims replaced", parts[0] + "." + payload(i.Token(i.Claims("admin", audience))) + "." + parts[2], ""},
		{"signature removed", parts[0] + "." + parts[1] + ".", ""},
		{"not a token", "abc", ""},
		{"huge", i.Token(valid.With(authtest.Claims{"x": strings.Repeat("x", 900<<10)})) + "x", ""},
		{"huge and nested", parts[0] + "." + strings.Repeat("W1tb", 100<<10) + "." + parts[2], ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the second result may come from the cache
				if got := authenticate(t, a, test.token); got != test.want {
					t.Errorf("user = %q, want %q", got, test.want)
				}
			}
		})
	}
}

// TestCacheKeepsTokensApart checks that tokens with the same beginning or end, and one token for several audiences, have results of
// their own.
func TestCacheKeepsTokensApart(t *testing.T) {
	h := authtest.NewWebhook(t, func(_ http.ResponseWriter, spec map[string]any) any {
		return map[string]any{"authenticated": true, "user": map[string]any{"username": spec["token"]}, "audiences": spec["audiences"]}
	})
	a, _ := open(t, Options{Webhook: Webhook{ConfigFile: h.Kubeconfig(), Version: "v1", CacheTTL: time.Hour}}, nil)
	for range 2 {
		for _, token := range []string{"a", "ab", "b", "a\x00b", strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20) + "b"} {
			if got := authenticate(t, a, token); got != token+" [system:authenticated]" {
				t.Errorf("user of a token of %d bytes = %.20q, want the token", len(token), got)
			}
		}
	}
	if got := len(h.Reviews()); got != 6 {
		t.Errorf("reviews = %d, want 6: one for each token", got)
	}
	for _, audience := range []string{"x", "y"} {
		response, ok, err := a.AuthenticateToken(authenticator.WithAudiences(t.Context(), []string{audience}), "a")
		if err != nil || !ok || !slices.Equal(response.Audiences, []string{audience}) {
			t.Errorf("response for the audience %s = %+v, %v, %v, want the audience", audience, response, ok, err)
		}
	}
}

// TestExpressions checks claim validation rules, mappings and user validation rules in CEL.
func TestExpressions(t *testing.T) {
	i := authtest.NewIssuer(t)
	a, _ := open(t, Options{ConfigFile: authtest.WriteFile(t, "config.yaml", configText(i, `  claimValidationRules:
  - {claim: hd, requiredValue: example.com}
  - {expression: "claims.exp - claims.iat <= 86400", message: "lifetime over a day"}
  claimMappings:
    username: {expression: "claims.?email_verified.orValue(true) ? claims.email : claims.sub"}
    groups: {expression: "claims.roles"}
    uid: {expression: "claims.sub"}
    extra:
    - {key: example.com/tenant, valueExpression: "claims.tenant"}
  userValidationRules:
  - {expression: "!user.username.startsWith('system:')", message: "reserved"}
  - {expression: "user.groups.all(g, !g.startsWith('system:'))", message: "reserved"}
`))}, nil)
	valid := i.Claims("7", audience).With(authtest.Claims{"hd": "example.com", "email": "alice@example.com", "roles": []string{"dev"}, "tenant": "blue"})
	response, ok, err := a.AuthenticateToken(t.Context(), i.Token(valid))
	if err != nil || !ok {
		t.Fatalf("AuthenticateToken() = %v, %v, want a user", ok, err)
	}
	if u := response.User; u.GetName() != "alice@example.com" || u.GetUID() != "7" || !slices.Equal(u.GetGroups(), []string{"dev", "system:authenticated"}) ||
		!reflect.DeepEqual(u.GetExtra()["example.com/tenant"], []string{"blue"}) {
		t.Errorf("user = %+v, want alice@example.com, 7, [dev system:authenticated], tenant blue", u)
	}
	for name, changes := range map[string]authtest.Claims{
		"required claim":           {"hd": "example.org"},
		"missing required claim":   {"hd": nil},
		"expression":               {"exp": time.Now().Add(48 * time.Hour).Unix()},
		"system user":              {"email": "system:admin"},
		"missing claim":            {"email": nil},
		"claim of another type":    {"email": 7},
		"roles of another type":    {"roles": 7},
		"roles with a number":      {"roles": []any{"dev", 7}},
		"reserved role":            {"roles": []string{"system:masters"}},
		"missing claim of a value": {"tenant": nil},
	} {
		if got := authenticate(t, a, i.Token(valid.With(changes))); got != "" {
			t.Errorf("%s: user = %q, want none", name, got)
		}
	}
}

// TestFlags checks the configuration by --oidc-*.
func TestFlags(t *testing.T) {
	i := authtest.NewIssuer(t)
	base := OIDC{IssuerURL: i.URL(), ClientID: audience, CAFile: i.CAFile()}
	for name, test := range map[string]struct {
		change func(*OIDC)
		want   string
	}{
		"defaults":           {func(*OIDC) {}, i.URL() + "#alice [system:authenticated]"},
		"prefix":             {func(o *OIDC) { o.UsernamePrefix = "o:" }, "o:alice [system:authenticated]"},
		"no prefix":          {func(o *OIDC) { o.UsernamePrefix = "-" }, "alice [system:authenticated]"},
		"groups":             {func(o *OIDC) { o.GroupsClaim, o.GroupsPrefix = "groups", "g:" }, i.URL() + "#alice [g:a system:authenticated]"},
		"another claim":      {func(o *OIDC) { o.UsernameClaim, o.UsernamePrefix = "name", "-" }, "Alice [system:authenticated]"},
		"email":              {func(o *OIDC) { o.UsernameClaim = "email" }, "a@example.com [system:authenticated]"},
		"required claim":     {func(o *OIDC) { o.RequiredClaims = map[string]string{"name": "Alice"} }, i.URL() + "#alice [system:authenticated]"},
		"missing claim":      {func(o *OIDC) { o.RequiredClaims = map[string]string{"name": "Bob"} }, ""},
		"another algorithm":  {func(o *OIDC) { o.SigningAlgs = []string{"ES256"} }, ""},
		"allowed algorithms": {func(o *OIDC) { o.SigningAlgs = []string{"ES256", "RS256"} }, i.URL() + "#alice [system:authenticated]"},
	} {
		t.Run(name, func(t *testing.T) {
			o := base
			test.change(&o)
			a, _ := open(t, Options{OIDC: o}, nil)
			token := i.Token(i.Claims("alice", audience).With(authtest.Claims{"groups": []string{"a"}, "name": "Alice", "email": "a@example.com", "email_verified": true}))
			if got := authenticate(t, a, token); got != test.want {
				t.Errorf("user = %q, want %q", got, test.want)
			}
		})
	}
}

// results records the results of reloads.
type results struct {
	mu   sync.Mutex
	errs []error
}

func (r *results) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// wait waits for the n-th result.
func (r *results) wait(t *testing.T, n int) (err error) {
	t.Helper()
	testwait.For(t, fmt.Sprintf("reload %d", n), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.errs) < n {
			return false
		}
		err = r.errs[n-1]
		return true
	})
	return err
}

// TestReload checks that a changed file takes effect, that invalid files keep the previous configuration, and that a reload cannot
// change which requests are anonymous.
func TestReload(t *testing.T) {
	i, next := authtest.NewIssuer(t), authtest.NewIssuer(t)
	file := authtest.WriteFile(t, "config.yaml", configText(i, plainMappings))
	var r results
	a, _ := open(t, Options{ConfigFile: file}, r.report)
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token, nextToken := i.Token(i.Claims("alice", audience)), next.Token(next.Claims("bob", audience))
	check := func(want, wantNext string) {
		t.Helper()
		if got, gotNext := authenticate(t, a, token), authenticate(t, a, nextToken); got != want || gotNext != wantNext {
			t.Errorf("users of the two issuers = %q and %q, want %q and %q", got, gotNext, want, wantNext)
		}
	}
	const alice, bob = "oidc:alice [system:authenticated]", "oidc:bob [system:authenticated]"
	check(alice, "")
	n := 0
	for content, want := range map[string]string{
		"{": "config.yaml", "kind: Pod\napiVersion: v1\n": "no kind",
		configText(i, "  claimMappings: {username: {claim: sub, prefix: 'x', expression: 'claims.sub'}}\n"): "invalid authentication configuration",
		configText(i, plainMappings+"  unknown: 1\n"):                                                       "unknown field",
		configText(i, plainMappings) + "anonymous: {enabled: false}\n":                                      errAnonymousChanged.Error(),
	} {
		write(content)
		n++
		if err := r.wait(t, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reload of %q = %v, want an error with %q", content, err, want)
		}
		check(alice, "")
	}
	write(configText(next, plainMappings))
	n++
	if err := r.wait(t, n); err != nil {
		t.Fatal(err)
	}
	check("", bob) // although the token of alice was cached
}

// TestIssuerThatIsDown checks that a server starts although the issuer cannot be reached, and rejects its tokens until then.
func TestIssuerThatIsDown(t *testing.T) {
	i := authtest.NewIssuer(t)
	i.Down.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	files := reload.New(slog.New(slog.DiscardHandler))
	a, err := Open(ctx, Options{ConfigFile: authtest.WriteFile(t, "config.yaml", configText(i, plainMappings))}, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := authenticate(t, a, i.Token(i.Claims("alice", audience))); got != "" {
		t.Errorf("user = %q, want none while the issuer is down", got)
	}
}

// TestWebhook checks the responses of the webhook: users, rejections, errors, redirects, and a webhook that does not respond.
func TestWebhook(t *testing.T) {
	other := authtest.NewWebhook(t, func(http.ResponseWriter, map[string]any) any {
		return map[string]any{"authenticated": true, "user": map[string]any{"username": "redirected"}}
	})
	var calls sync.Map // counts the calls by token
	h := authtest.NewWebhook(t, func(w http.ResponseWriter, spec map[string]any) any {
		token := spec["token"].(string)
		count, _ := calls.LoadOrStore(token, new(int))
		*count.(*int)++
		switch token {
		case "good":
			return map[string]any{"authenticated": true, "user": map[string]any{"username": "alice", "uid": "7", "groups": []string{"dev"}, "extra": map[string]any{"k": []string{"v"}}}}
		case "refused":
			return map[string]any{"authenticated": false, "user": map[string]any{"username": "alice"}}
		case "error":
			return map[string]any{"authenticated": true, "error": "no", "user": map[string]any{"username": "mallory"}}
		case "once-500":
			if *count.(*int) > 1 {
				return map[string]any{"authenticated": true, "user": map[string]any{"username": "bob"}}
			}
			w.WriteHeader(http.StatusInternalServerError)
		case "redirect-307", "redirect-302":
			w.Header().Set("Location", other.URL())
			w.WriteHeader(map[string]int{"redirect-307": 307, "redirect-302": 302}[token])
		case "garbage":
			fmt.Fprint(w, "<html>")
		case "other-kind":
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Pod","status":{"authenticated":true}}`)
		}
		return nil
	})
	a, _ := open(t, Options{Webhook: Webhook{ConfigFile: h.Kubeconfig(), Version: "v1", CacheTTL: time.Hour}}, nil)
	for token, want := range map[string]string{
		"good": "alice [dev system:authenticated]", "refused": "", "once-500": "bob [system:authenticated]",
		"redirect-307": "", "redirect-302": "", "garbage": "", "other-kind": "",
	} {
		if got := authenticate(t, a, token); got != want {
			t.Errorf("user of %s = %q, want %q", token, got, want)
		}
	}
	if got := other.Reviews(); len(got) > 0 {
		t.Errorf("the target of redirects received %v, want nothing", got)
	}
	if r := h.Reviews()[0]; r["apiVersion"] != "authentication.k8s.io/v1" || r["kind"] != "TokenReview" {
		t.Errorf("review = %v, want a TokenReview of authentication.k8s.io/v1", r)
	}
}

// TestWebhookThatHangs checks that a request whose context ends does not wait for the webhook.
func TestWebhookThatHangs(t *testing.T) {
	release := make(chan struct{})
	h := authtest.NewWebhook(t, func(http.ResponseWriter, map[string]any) any { <-release; return nil })
	t.Cleanup(func() { close(release) })
	a, _ := open(t, Options{Webhook: Webhook{ConfigFile: h.Kubeconfig()}}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, ok, err := a.AuthenticateToken(ctx, "x"); ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("AuthenticateToken() = %v, %v, want that the deadline was exceeded", ok, err)
	}
}

// TestAnonymous checks which requests are anonymous, by flag and by file.
func TestAnonymous(t *testing.T) {
	yes, no := true, false
	file := func(section string) string {
		return authtest.WriteFile(t, "config.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"+section)
	}
	for name, test := range map[string]struct {
		options Options
		want    string // the paths of /livez and /api that accept anonymous requests
	}{
		"default":         {Options{}, "/livez /api"},
		"enabled":         {Options{Anonymous: &yes}, "/livez /api"},
		"disabled":        {Options{Anonymous: &no}, ""},
		"file":            {Options{ConfigFile: file("anonymous: {enabled: true, conditions: [{path: /livez}]}\n")}, "/livez"},
		"disabled file":   {Options{ConfigFile: file("anonymous: {enabled: false}\n")}, ""},
		"file and flag":   {Options{ConfigFile: file("jwt: []\n"), Anonymous: &no}, ""},
		"file without it": {Options{ConfigFile: file("jwt: []\n")}, "/livez /api"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := open(t, test.options, nil)
			var accepted []string
			for _, path := range []string{"/livez", "/api"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://server"+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if a.Anonymous() == nil {
					continue
				}
				if response, ok, err := a.Anonymous().AuthenticateRequest(r); err == nil && ok && response.User.GetName() == "system:anonymous" {
					accepted = append(accepted, path)
				}
			}
			if got := strings.Join(accepted, " "); got != test.want {
				t.Errorf("anonymous paths = %q, want %q", got, test.want)
			}
		})
	}
}

// TestErrors checks the errors of invalid options and files.
func TestErrors(t *testing.T) {
	i := authtest.NewIssuer(t)
	yes := true
	file := func(content string) string { return authtest.WriteFile(t, "config.yaml", content) }
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"file and flags":        {Options{ConfigFile: "x", OIDC: OIDC{IssuerURL: "https://x", ClientID: "x"}}, "--authentication-config, --oidc-*: expected the file or flags"},
		"no client":             {Options{OIDC: OIDC{IssuerURL: "https://x"}}, "--oidc-issuer-url, --oidc-client-id: expected both"},
		"algorithm":             {Options{OIDC: OIDC{IssuerURL: "https://x", ClientID: "x", SigningAlgs: []string{"HS256"}}}, `--oidc-signing-algs: expected`},
		"algorithm none":        {Options{OIDC: OIDC{IssuerURL: "https://x", ClientID: "x", SigningAlgs: []string{"none"}}}, `--oidc-signing-algs: expected`},
		"http issuer":           {Options{OIDC: OIDC{IssuerURL: "http://x", ClientID: "x"}}, "URL scheme must be https"},
		"missing CA":            {Options{OIDC: OIDC{IssuerURL: "https://x", ClientID: "x", CAFile: "/none"}}, "--oidc-ca-file"},
		"webhook version":       {Options{Webhook: Webhook{Version: "v2"}}, "--authentication-token-webhook-version"},
		"webhook TTL":           {Options{Webhook: Webhook{CacheTTL: -1}}, "--authentication-token-webhook-cache-ttl"},
		"webhook file":          {Options{Webhook: Webhook{ConfigFile: "/none"}}, "--authentication-token-webhook-config-file"},
		"missing file":          {Options{ConfigFile: "/none"}, "no such file"},
		"empty file":            {Options{ConfigFile: file("")}, "empty file"},
		"another kind":          {Options{ConfigFile: file("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n")}, "expected an AuthenticationConfiguration"},
		"duplicate issuer":      {Options{ConfigFile: file(configText(i, plainMappings) + strings.SplitN(configText(i, plainMappings), "jwt:\n", 2)[1])}, "Duplicate value"},
		"anonymous twice":       {Options{Anonymous: &yes, ConfigFile: file("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n")}, "must be unset if --anonymous-auth is set"},
		"expression":            {Options{ConfigFile: file(configText(i, "  claimMappings: {username: {expression: 'claims.'}}\n"))}, "compilation failed"},
		"unverified email":      {Options{ConfigFile: file(configText(i, "  claimMappings: {username: {expression: 'claims.email'}}\n"))}, "email_verified"},
		"prefix of the claim":   {Options{ConfigFile: file(configText(i, "  claimMappings: {username: {claim: sub}}\n"))}, "prefix"},
		"conditions on nothing": {Options{ConfigFile: file("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false, conditions: [{path: /x}]}\n")}, "enabled should be set to true"},
	} {
		if _, err := Open(t.Context(), test.options, reload.New(slog.New(slog.DiscardHandler)), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Open() = %v, want an error with %q", name, err, test.want)
		}
	}
}

// TestVersions checks that the versions of the configuration that kube-apiserver reads are read.
func TestVersions(t *testing.T) {
	i := authtest.NewIssuer(t)
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		content := strings.Replace(configText(i, plainMappings), "k8s.io/v1\n", "k8s.io/"+version+"\n", 1)
		a, _ := open(t, Options{ConfigFile: authtest.WriteFile(t, "config.yaml", content)}, nil)
		if got := authenticate(t, a, i.Token(i.Claims("alice", audience))); got != "oidc:alice [system:authenticated]" {
			t.Errorf("%s: user = %q, want oidc:alice", version, got)
		}
	}
}
