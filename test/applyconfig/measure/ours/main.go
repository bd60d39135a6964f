// Command ours prints an apply configuration and extracts it again, with package applyconfig; see test/applyconfig/measure.sh.
package main

import (
	"encoding/json"
	"os"

	kappsv1 "k8s.io/api/apps/v1"

	appsv1 "github.com/cadastre/cadastre/applyconfig/apps/v1"
)

func main() {
	config := appsv1.Deployment("web", "default").WithSpec(appsv1.DeploymentSpec().WithReplicas(int32(len(os.Args))))
	if extracted, err := appsv1.ExtractDeployment(&kappsv1.Deployment{}, "me"); err == nil {
		config = extracted
	}
	if err := json.NewEncoder(os.Stdout).Encode(config); err != nil {
		os.Exit(1)
	}
}
