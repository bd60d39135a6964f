// Package wire tests with plain HTTP requests that client libraries do not send, and parts of responses that they do
// not show.
//
// Files:
//
//   - main_test.go: requests and responses
//   - options_test.go: invalid and conflicting parameters of reads
//   - expired_test.go: compacted resource versions
//   - metrics_test.go: metrics of requests
//   - warnings_test.go: warnings about deprecated APIs
//   - cbor_test.go: invalid UTF-8 in CBOR
package wire
