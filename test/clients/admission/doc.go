// Package admission tests admission webhooks: the server calls a webhook of the test on 127.0.0.1. The requests that
// the webhook receives and the responses that the client receives are compared with transcripts in testdata, which
// were recorded with kube-apiserver; go test -record with that target writes them.
//
// Files:
//
//   - webhook_test.go: the webhook; its path selects its behaviour
//   - transcript_test.go: transcripts, with variable parts masked
//   - main_test.go: HTTP requests
//   - cases_test.go: test cases for built-in resources; custom_test.go: for custom resources
package admission
