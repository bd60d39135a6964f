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
// # Running it
//
// Once make peers has built kube-apiserver and etcd, in the folder of the repository:
//
//	make differential                                       for an hour
//	make differential DIFFERENTIAL='-time 5m -kind pods'    for five minutes, about one kind
//	make differential DIFFERENTIAL='-seed 1053 -time 1m'    the history of this number, and those after it
//
// It prints the number that it begins with, and how far it has come. For each sort of difference, which is a request
// with what was wrong about the answer, whoever sent it, it prints a file, the sort, and the step that differs, with
// our answer and a command that repeats the request. The file is a script that has Kubernetes' answers as what is
// expected; if they are right, move it to applytest/scripts, and correct us. A history that is found when the time is
// nearly up is left as it was drawn: begin with its number to have it made small. One that differed once, and not
// again, is told and not counted as a difference. The last lines count what was compared, what could not be, such as
// histories that edit an object that is not there (GET 404), and the deliberate differences that were met, each an
// entry of docs/differences.md. The exit code is 1 if anything differs.
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
//	               leeway.go, what is expected all the same; mask.go, what servers choose
//	rest.go        what Kubernetes leaves of patches in objects
//	compare.go     both servers are asked
//	shrink.go      a history that differs becomes a smaller one
//	search.go      many histories, until the time is up; clock.go, of which only that counts in which the process runs
package differential
