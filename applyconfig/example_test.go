package applyconfig_test

import (
	"encoding/json"
	"fmt"

	appsv1 "github.com/cadastre/cadastre/applyconfig/apps/v1"
	corev1 "github.com/cadastre/cadastre/applyconfig/core/v1"
)

func Example() {
	container := corev1.Container().WithName("app").WithImage("app:2").UnsetReadinessProbe()
	config := appsv1.Deployment("web", "default").
		UnsetLabelsEntry("tier").
		WithSpec(appsv1.DeploymentSpec().
			UnsetReplicas().
			WithTemplate(corev1.PodTemplateSpec().
				WithSpec(corev1.PodSpec().
					WithContainers(container, corev1.Container().WithName("proxy").Unset()))))
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {
	//   "kind": "Deployment",
	//   "apiVersion": "apps/v1",
	//   "metadata": {
	//     "name": "web",
	//     "namespace": "default",
	//     "labels": {
	//       "tier": {
	//         "k8s_io__value": "unset"
	//       }
	//     }
	//   },
	//   "spec": {
	//     "replicas": {
	//       "k8s_io__value": "unset"
	//     },
	//     "template": {
	//       "spec": {
	//         "containers": [
	//           {
	//             "name": "app",
	//             "image": "app:2",
	//             "readinessProbe": {
	//               "k8s_io__value": "unset"
	//             }
	//           },
	//           {
	//             "name": "proxy",
	//             "k8s_io__value": "unset"
	//           }
	//         ]
	//       }
	//     }
	//   }
	// }
}
