package main

import (
	"example.com/projects/program"

	clusterv1 "example.com/projects/cluster-api/cluster/v1beta2"
)

func main() {
	variable := clusterv1.ClusterSpecTopologyVariables
	topology := func() *clusterv1.ClusterSpecTopologyApplyConfiguration { return clusterv1.ClusterSpecTopology() }
	program.Run(map[string]any{
		"author": clusterv1.Cluster("prod", "default").WithSpec(clusterv1.ClusterSpec().
			WithPaused(true).
			WithTopology(topology().
				WithVersion("v1.37.1").
				WithClassRef(clusterv1.ClusterSpecTopologyClassRef().WithName("small")).
				WithVariables(variable().WithName("region").WithValue("eu"), variable().WithName("zone").WithValue(map[string]any{"id": 1})))),
		"remover": clusterv1.Cluster("prod", "default").WithSpec(clusterv1.ClusterSpec().
			UnsetPaused().
			WithTopology(topology().WithVariables(variable().WithName("zone").Unset()))),
	}, func(object any, manager string) (any, error) { return clusterv1.ExtractCluster(object, manager) })
}
