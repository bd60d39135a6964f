// Command kubectl is kubectl, built from the version that the go.mod of this module requires.
package main

import "github.com/cadastre/cadastre/test/clients/kubectl"

func main() { kubectl.Main() }
