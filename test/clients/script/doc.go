// Package script runs testscript scripts in which command line clients talk to the server of package target.
//
// Every script has a namespace of its own, named $NAMESPACE, and these in its environment:
//
//   - KUBECONFIG: an administrator's configuration with that namespace
//   - SERVER, TOKEN, CACERT: the same for clients that read no kubeconfig
//   - CURL_HOME: a .curlrc, so that plain curl is authenticated, fails on an error status and prints that
//     status as "HTTP 409" to standard error
//
// Beside testscript's own, scripts have these commands and conditions:
//
//   - json FILE|stdout TEMPLATE WANT: the JSONPath TEMPLATE of the document prints WANT
//   - owners RESOURCE/NAME: prints who owns what in the object, to compare with a file
//   - eventually PROGRAM ARGS...: the program succeeds within a while
//   - [cadastre], [kube-apiserver]: the implementation that answers
//
// Where to look:
//
//   - script.go: the run, the environment
//   - json.go: the command json
//   - eventually.go: the command eventually
//   - owners.go: the command owners
package script
