// Package applyconfig tests generated apply configurations against the server, with the clients that users have: typed
// clients of client-go, the dynamic client and controller-runtime.
//
// # Files
//
//	server_test.go    apply and extract with Unset functions, in JSON and CBOR
//	surface_test.go   the exported API beside that of client-go's apply configurations
//	topology_test.go  the struct tags beside the schema of client-go
//	projects_test.go  generated code of projects' CustomResourceDefinitions, compiled and applied
package applyconfig
