// Package admission has tests of webhooks that are asked about writes: a webhook that runs here, at 127.0.0.1, is called by
// the server for real. What it was asked and what the client was answered is written down, and held against what was
// written down with kube-apiserver, in testdata; go test -record with that target writes it.
//
// Where to look:
//
//   - webhook_test.go: the webhook, and what it does at which path
//   - transcript_test.go: what is written down, and what is left out of it
//   - main_test.go: requests
//   - cases_test.go: what is tried; custom_test.go, with custom resources
package admission
