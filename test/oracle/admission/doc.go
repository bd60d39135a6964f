// Package oracle compares Cadastre's admission plugins with those of kube-apiserver.
//
// It is a separate module because it depends on k8s.io/kubernetes. It runs kube-apiserver's plugins, with the stored
// objects of a case in their informers, on the cases in internal/admission/plugin/PLUGIN/testdata: those in cases.txt
// are written by hand, those in random.txt are generated. With -update it records the results there; the unit tests
// of the plugins replay them. Without -update it fails if a result differs from the recorded one. It also compares
// further random cases directly with Cadastre's plugins: see -cases and -seed. Package admissiontest documents the format of
// cases.
//
// # Files
//
//	plugins.go   pairs of Cadastre's and kube-apiserver's plugins
//	upstream.go  calls kube-apiserver's plugins
//	random.go    random cases
package oracle
