package client_test

import (
	"encoding/json"
	"fmt"

	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/cadastre/cadastre/client"
)

func ExampleUnset() {
	deployment := applyapps.Deployment("web", "default")
	config, err := client.Unset(deployment, "spec", "replicas")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	_, err = client.Unset(config, "spec", "replica")
	fmt.Println(err)
	// Output:
	// {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":{"k8s_io__value":"unset"}}}
	// client: spec.replica: expected a field of DeploymentSpecApplyConfiguration, received "replica"; use the name in JSON
}
