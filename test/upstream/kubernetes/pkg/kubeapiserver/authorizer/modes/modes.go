// Package modes names the authorization modes of kube-apiserver.
package modes

// ModeWebhook is the authorization by a webhook.
const ModeWebhook = "Webhook"
