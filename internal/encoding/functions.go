package encoding

// functions maps names to the cells that are Go functions. A kind file refers to one as "go NAME".
var functions = map[string]cell{
	"pod-ready":    textFunction(func(r *row) string { s := r.podState(); return ratio(s.ready, s.containers) }),
	"pod-status":   textFunction(func(r *row) string { return r.podState().status }),
	"pod-restarts": textFunction(podRestarts),
	"pod-ip":       textFunction(podIP),
	"pod-gates":    textFunction(podGates),

	"deployment-selector": textFunction(deploymentSelector),
	"controller":          textFunction(controller),
	"job-status":          textFunction(jobStatus),
	"job-completions":     textFunction(jobCompletions),
	"job-duration":        textFunction(jobDuration),
	"quota-requests":      quotaCell(false),
	"quota-limits":        quotaCell(true),
	"autoscaler-targets":  textFunction(autoscalerTargets),

	"service-cluster-ip":       textFunction(serviceClusterIP),
	"service-external-ip":      textFunction(serviceExternalIP),
	"service-ports":            textFunction(servicePorts),
	"load-balancer":            textFunction(loadBalancer),
	"ingress-hosts":            textFunction(ingressHosts),
	"ingress-ports":            textFunction(ingressPorts),
	"ingress-class-name":       textFunction(ingressClassName),
	"ingress-class-parameters": textFunction(ingressClassParameters),
	"ip-parent":                textFunction(ipParent),
	"endpoints":                textFunction(endpoints),
	"slice-ports":              textFunction(slicePorts),
	"slice-endpoints":          textFunction(sliceEndpoints),

	"node-status":      textFunction(nodeStatus),
	"node-roles":       textFunction(nodeRoles),
	"node-internal-ip": nodeAddress("InternalIP"),
	"node-external-ip": nodeAddress("ExternalIP"),
	"node-kernel":      textFunction(nodeKernel),

	"event-first":   textFunction(eventFirstSeen),
	"event-last":    textFunction(eventLastSeen),
	"event-count":   eventCount,
	"event-object":  textFunction(eventObject),
	"event-source":  textFunction(eventSource),
	"event-message": textFunction(eventMessage),

	"phase":              textFunction(phase),
	"volume-modes":       textFunction(volumeModes),
	"claim-modes":        textFunction(claimModes),
	"claim-capacity":     textFunction(claimCapacity),
	"storage-class":      textFunction(storageClass),
	"storage-class-name": textFunction(storageClassName),
	"storage-capacity":   textFunction(storageCapacity),
	"claim-state":        textFunction(claimState),

	"subject-users":        subjects("User"),
	"subject-groups":       subjects("Group"),
	"subject-accounts":     subjects("ServiceAccount"),
	"certificate-duration": textFunction(certificateDuration),
	"certificate-status":   textFunction(certificateStatus),

	"pod-certificate-state": textFunction(podCertificateState),
	"taint-added":           textFunction(taintAdded),
	"migrated-resource":     textFunction(migratedResource),
	"migration-status":      textFunction(migrationStatus),

	"param-ref": textFunction(paramRef),

	"flow-schema-method":   textFunction(flowSchemaMethod),
	"flow-schema-dangling": textFunction(flowSchemaDangling),
	"level-shares":         levelShares,
	"level-queues":         levelQueuing("queues"),
	"level-hand":           levelQueuing("handSize"),
	"level-length":         levelQueuing("queueLengthLimit"),
}

// orders maps names to the row orders that kind files can refer to.
var orders = map[string]func(r *row) sortKey{
	"flow-schema-order": flowSchemaOrder,
}
