// Package differential sends the same random histories to two servers and finds where their answers differ.
//
// A history is a few requests about one object: several managers create, apply, update, patch, scale and
// delete it. Everything in it is drawn from a seed, so that the same seed is the same history. Bodies are made
// of the parts that a kind's vocabulary lists (kinds/*.yaml): few names and few values, so that managers meet
// in the same fields often, and most requests are valid.
//
// Some requests name the uid or the revision that they are about, write managedFields themselves, come as YAML or protobuf,
// or from a program that does not say its name; strategic patches have all of their directives.
//
// A history becomes a script of package applytest. The one server's answers are recorded in it, and the other
// server is held to them, so that object, managedFields, status and errors are compared as applytest does.
// What Cadastre does differently on purpose is taken out of the expectations first; where the objects are
// different ones from then on, the history ends. A history that differs, and does so again, is made smaller,
// steps first and then parts of bodies, for as long as it differs in the same way; what is left is a script
// that can be read, and kept.
//
// Times of managedFields, and the order of owners, which is that of times, are not compared: they have seconds, and the two
// servers are not asked in the same ones. Scripts of applytest wait for the next second to see them.
//
// # Where to look
//
//	vocabulary.go  the kinds, their bases and parts; definition.go, a kind that no server knows by itself
//	generate.go    a seed becomes a history
//	body.go        parts become the bodies of applies and patches; place.go, where in them something is;
//	               directive.go, what strategic patches say to do; condition.go, what is said about the object as it is;
//	               form.go, in what bodies are sent
//	script.go      a history becomes a script
//	known.go       deliberate differences, taken out of what is expected, and sign.go, how they are known;
//	               mask.go, what servers choose
//	  rest.go        what Kubernetes leaves of patches in objects
//	compare.go     both servers are asked
//	shrink.go      a history that differs becomes a smaller one
//	search.go      many histories, until the time is up; clock.go, of which only that counts in which the process runs
package differential
