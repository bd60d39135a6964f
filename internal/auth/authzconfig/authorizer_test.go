package authzconfig

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/auth/authtest"
	"github.com/cadastre/cadastre/internal/lib/reload"
)

// TestErrors checks the errors of invalid options and files.
func TestErrors(t *testing.T) {
	file := func(authorizers string) Options {
		return Options{ConfigFile: authtest.WriteFile(t, "config.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: ["+authorizers+"]\n")}
	}
	const webhook = "type: Webhook, name: w, webhook: {timeout: 3s, authorizedTTL: 1s, unauthorizedTTL: 1s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: "
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"unknown mode":         {Options{Modes: []string{"Node"}}, `--authorization-mode: expected modes of`},
		"repeated mode":        {Options{Modes: []string{"RBAC", "RBAC"}}, "expected each mode once"},
		"no webhook file":      {Options{Modes: []string{"Webhook"}}, "--authorization-webhook-config-file: expected a file"},
		"webhook without mode": {Options{Webhook: Webhook{ConfigFile: "x"}}, "must be unset unless"},
		"missing webhook file": {Options{Modes: []string{"Webhook"}, Webhook: Webhook{ConfigFile: "/none"}}, "authorization webhook default"},
		"version":              {Options{Webhook: Webhook{Version: "v2"}}, "--authorization-webhook-version"},
		"TTL":                  {Options{Webhook: Webhook{AuthorizedTTL: -1}}, "--authorization-webhook-cache-authorized-ttl"},
		"file and mode":        {Options{ConfigFile: "x", Modes: []string{"RBAC"}}, "--authorization-config: expected the file or"},
		"file and webhook":     {Options{ConfigFile: "x", Webhook: Webhook{ConfigFile: "x"}}, "--authorization-config: expected the file or"},
		"missing file":         {Options{ConfigFile: "/none"}, "no such file"},
		"no authorizers":       {file(""), "at least one authorization mode"},
		"mode of kubelets":     {file("{type: Node, name: node}"), "Unsupported value"},
		"name":                 {file("{type: RBAC, name: x}"), "authorizers[0].name: expected rbac for type RBAC"},
		"in cluster":           {file("{" + webhook + "{type: InClusterConfig}}}"), "connectionInfo.type: expected KubeConfigFile"},
		"relative path":        {file("{" + webhook + "{type: KubeConfigFile, kubeConfigFile: x}}}"), "must be an absolute path"},
		"unknown field":        {file("{type: RBAC, name: rbac, x: 1}"), "unknown field"},
	} {
		d := Dependencies{RBAC: newAlways(false), RequestTimeout: time.Minute, Files: reload.New(slog.New(slog.DiscardHandler))}
		if _, err := Open(t.Context(), test.options, d); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Open() = %v, want an error with %q", name, err, test.want)
		}
	}
}
