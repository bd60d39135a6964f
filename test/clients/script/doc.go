// Package script runs testscript scripts in which command line clients use the server of package target.
//
// Every script has its own namespace, $NAMESPACE, and these environment variables:
//
//   - KUBECONFIG: an administrator's configuration with that namespace
//   - SERVER, TOKEN, CACERT: the same for clients that do not read a kubeconfig
//   - CURL_HOME: a .curlrc with which curl is authenticated, fails on an error status, and prints the status, such as
//     "HTTP 409", to standard error
//
// In addition to those of testscript, scripts have these commands and conditions:
//
//   - json FILE|stdout TEMPLATE WANT: compares the JSONPath TEMPLATE of the document with WANT
//   - owners RESOURCE/NAME: prints the managedFields of the object, to compare with a file
//   - eventually PROGRAM ARGS...: runs the program until it succeeds, with a timeout
//   - [cadastre], [kube-apiserver]: the implementation under test
//
// Files:
//
//   - script.go: runs scripts, sets up their environment
//   - json.go: the command json
//   - eventually.go: the command eventually
//   - owners.go: the command owners
package script
