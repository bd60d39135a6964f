// Package commandline tests Cadastre's command line together with kubectl, on any server: the scripts in testdata run
// its commands on objects that real clients wrote.
package commandline
