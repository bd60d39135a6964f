// Package wire has tests that speak HTTP with a server themselves: of what no client library would send,
// or would show.
//
// Where to look:
//
//   - main_test.go: requests and answers
//   - options_test.go: parameters of reads that can't be, or don't go together
//   - expired_test.go: what the server has forgotten
//   - metrics_test.go: as what requests are counted
//   - warnings_test.go: what is done, and better not done
//   - cbor_test.go: bytes that are no text
package wire
