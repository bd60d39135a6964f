package main

import (
	"example.com/projects/program"

	"github.com/cadastre/cadastre/applyruntime"

	argov1alpha1 "example.com/projects/argo-rollouts/argoproj/v1alpha1"
)

func main() {
	pod := func(containers ...*argov1alpha1.RolloutSpecTemplateSpecContainersApplyConfiguration) *argov1alpha1.RolloutSpecTemplateApplyConfiguration {
		return argov1alpha1.RolloutSpecTemplate().WithSpec(argov1alpha1.RolloutSpecTemplateSpec().WithContainers(containers...))
	}
	container := argov1alpha1.RolloutSpecTemplateSpecContainers
	port := argov1alpha1.RolloutSpecTemplateSpecContainersPorts
	program.Run(map[string]any{
		"author": argov1alpha1.Rollout("web", "default").WithSpec(argov1alpha1.RolloutSpec().
			WithReplicas(3).
			WithSelector(argov1alpha1.RolloutSpecSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithStrategy(argov1alpha1.RolloutSpecStrategy().WithCanary(argov1alpha1.RolloutSpecStrategyCanary().
				WithMaxSurge(applyruntime.FromString("25%")).WithMaxUnavailable(applyruntime.FromInt(0)).
				WithSteps(argov1alpha1.RolloutSpecStrategyCanarySteps().WithSetWeight(20)))).
			WithTemplate(pod(
				container().WithName("app").WithImage("app:1").WithPorts(port().WithContainerPort(80), port().WithContainerPort(53).WithProtocol("UDP")),
				container().WithName("proxy").WithImage("proxy:1"),
			))),
		"remover": argov1alpha1.Rollout("web", "default").WithSpec(argov1alpha1.RolloutSpec().
			UnsetReplicas().
			WithStrategy(argov1alpha1.RolloutSpecStrategy().WithCanary(argov1alpha1.RolloutSpecStrategyCanary().UnsetMaxSurge())).
			WithTemplate(pod(
				container().WithName("app").WithPorts(port().WithContainerPort(53).WithProtocol("UDP").Unset()),
				container().WithName("proxy").Unset(),
			))),
	}, func(object any, manager string) (any, error) { return argov1alpha1.ExtractRollout(object, manager) })
}
