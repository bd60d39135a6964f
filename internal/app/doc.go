// Package app assembles a server from its components; it is the only package that imports all of them. The public API for
// embedding a server is package apiserver.
//
// # Where to look
//
//	app.go            Config and Start, which constructs the components in the order of their dependencies
//	admission.go      the ordered list of admission plugins
//	bootstrap.go      the objects that exist on every server; systemobjects.go recreates deleted ones
//	  service.go        the Service "kubernetes"; roles.go, aggregated ClusterRoles
//	controllers.go    controllers, and leader election among servers that share a store
package app
