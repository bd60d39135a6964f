// Package app assembles a server: it is the only package that knows all parts. Package apiserver is its public face.
//
// # Where to look
//
//	app.go            Config, Start and Stop: the parts in the order of their dependencies
//	admission.go      the ordered list of admission plugins
//	bootstrap.go      the objects that every server has; systemobjects.go restores those that were deleted
//	  service.go        the service "kubernetes"; roles.go, aggregated ClusterRoles
//	controllers.go    controllers, and leader election among servers that share a store
package app
