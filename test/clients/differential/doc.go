// Package differential sends the same random histories to two servers and reports where their responses differ.
//
// A history is a sequence of requests about one object: several field managers create, apply, update, patch, scale and delete
// it. It is generated from a seed, so that a seed always generates the same history. Bodies are composed of the parts in the
// vocabulary of a kind (kinds/*.yaml): few names and few values, so that managers often write the same fields and most requests
// are valid.
//
// Some requests have a uid or resourceVersion, set managedFields, are sent as YAML or protobuf, or have no fieldManager
// parameter; strategic merge patches use all directives.
//
// A history is converted to a script of package applytest. The responses of the reference server are recorded in it, and the
// other server is checked against them, so that object, managedFields, status and errors are compared as applytest does.
// Deliberate differences of Cadastre are first removed from the expectations; where they change the object, the history ends. A
// history that differs reproducibly is shrunk, first steps and then parts of bodies, as long as the difference is of the same
// kind; the result is a readable script that can be added to the tests.
//
// Times in managedFields, and the order of entries, which depends on them, are not compared: they have a resolution of seconds,
// and the servers process requests in different seconds. Scripts of applytest cover them by waiting for the next second.
//
// # Usage
//
// After make peers has built kube-apiserver and etcd, in the folder of the repository:
//
//	make differential                                       for an hour
//	make differential DIFFERENTIAL='-time 5m -kind pods'    for five minutes, one resource
//	make differential DIFFERENTIAL='-seed 1053 -time 1m'    from this seed on
//
// It prints the first seed and its progress. For each kind of difference, which is a request and the complaints about the
// response, it prints a file, the kind, and the step that differs, with our response and a command that repeats the request.
// The file is a script with the responses of kube-apiserver; if they are right, move it to applytest/scripts and fix Cadastre.
// A history that is found when the time is nearly up is not shrunk: start with its seed to shrink it. A difference that is not
// reproducible is printed but not counted. The last lines contain the numbers of histories that were compared, of histories
// that could not be compared, such as those that edit an object that does not exist (GET 404), and of the deliberate
// differences, each an entry of docs/differences.md. The exit code is 1 if there is a difference.
//
// # Files
//
//	vocabulary.go    kinds with their bases and parts; definition.go, a CustomResourceDefinition
//	generate.go      seed → history
//	body.go          parts → bodies of applies and patches; path.go, paths in them; directive.go, directives of strategic
//	                 merge patches; metadata.go, preconditions and managedFields; mediatype.go, encodings
//	script.go        history → script
//	known.go         deliberate differences; predicates.go, how they are detected; loosen.go, expectations in spite of them;
//	                 mask.go, values that servers choose
//	patchresidue.go  parts of patches that kube-apiserver stores in objects
//	compare.go       runs a history on both servers
//	shrink.go        shrinks a history that differs
//	search.go        compares histories until the time is up; stopwatch.go, measures the running time
package differential
