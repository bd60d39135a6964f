package main

import (
	"example.com/projects/program"

	appsv1 "example.com/projects/openapi/apps/v1"
	corev1 "example.com/projects/openapi/core/v1"
	metav1 "example.com/projects/openapi/meta/v1"
)

func main() {
	port := corev1.ContainerPort
	program.Run(map[string]any{
		"author": appsv1.Deployment("web", "default").WithSpec(appsv1.DeploymentSpec().
			WithReplicas(3).WithMinReadySeconds(5).
			WithSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithTemplate(corev1.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).WithSpec(corev1.PodSpec().WithContainers(
				corev1.Container().WithName("app").WithImage("app:1").WithPorts(port().WithContainerPort(80), port().WithContainerPort(53).WithProtocol("UDP")))))),
		"remover": appsv1.Deployment("web", "default").UnsetLabelsEntry("tier").WithSpec(appsv1.DeploymentSpec().
			UnsetReplicas().UnsetMinReadySeconds().
			WithTemplate(corev1.PodTemplateSpec().WithSpec(corev1.PodSpec().WithContainers(
				corev1.Container().WithName("app").WithPorts(port().WithContainerPort(53).WithProtocol("UDP").Unset()))))),
	}, func(object any, manager string) (any, error) { return appsv1.ExtractDeployment(object, manager) })
}
