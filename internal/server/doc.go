// Package server is the API over HTTP: who are you, may you, what do you want, do it, answer.
//
// # The life of a request
//
// [Handler.ServeHTTP] shows it whole: what is wanted is read from the path, the client is
// authenticated, counted against the limits and authorised; then a file for each verb reads the
// parameters, has package objects or cache do it, and answers in the form that the client accepts.
// Errors are returned, and become a status in one place; a panic is a 500 for that request alone.
//
// # What holds
//
//   - Nobody gets past step 2 without a name, save for health and version.
//   - Nothing is looked up for who may not see it: whether a resource exists is told after
//     step 4.
//   - An answer that has begun is whole or the connection breaks.
//
// # Where to look
//
//	server.go      the handler, and the life of a request
//	target.go      what a path means; resource.go, which kind that is
//	access.go      who the client is, and what it may
//	limits.go      how much at once, how long, how large; deadline.go, how long writes may take
//	read.go        get and list; continue.go, lists in pages; select.go, fields of custom resources
//	watch.go       watches
//	write.go       create, update and patch; options.go, their parameters; body.go, what they are sent
//	warnings.go    what clients are told in headers
//	delete.go      delete and deletecollection
//	review.go      questions about users
//	other.go       metrics, discovery; health.go, how the server is
//	respond.go     objects and lists as the client wants them
//	compress.go    large answers are compressed
//	answer.go      the way back to the client: what is sent, and what went wrong; warnings.go, what it is
//	               warned of
//	start.go       a whole server: what it starts, in order
//	controllers.go what it does by itself, if it is its turn
//	bootstrap.go   the objects that are there from the beginning; service.go, the server's own service;
//	               keeper.go makes them anew
//	admitters.go   those who have a say in writes: webhooks and policies
//	roles.go       what the server does when roles are written
//	listen.go      TLS and HTTP; log.go
//	gather.go      connections that send what is written together
package server
