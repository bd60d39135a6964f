// Command kubectl is kubectl, compiled from the module that the tests pin.
package main

import "github.com/cadastre/cadastre/test/clients/kubectl"

func main() { kubectl.Main() }
