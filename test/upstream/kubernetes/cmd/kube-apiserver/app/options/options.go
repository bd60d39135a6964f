// Package options has the options of kube-apiserver that the tests set.
package options

import "time"

// ServerRunOptions are the options of a server.
type ServerRunOptions struct {
	Admission struct {
		GenericAdmission struct{ EnablePlugins []string }
	}
	APIEnablement struct{ RuntimeConfig RuntimeConfig }
	Authorization struct {
		Modes                                                  []string
		WebhookConfigFile, WebhookVersion                      string
		WebhookCacheAuthorizedTTL, WebhookCacheUnauthorizedTTL time.Duration
	}
}

// RuntimeConfig selects API versions. Cadastre always serves those that kube-apiserver serves by default.
type RuntimeConfig struct{}

// Set ignores the value.
func (RuntimeConfig) Set(string) error { return nil }
