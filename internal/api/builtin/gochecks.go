package builtin

import "github.com/cadastre/cadastre/document"

// goChecks returns the checks that are Go functions, by their names in rules. They validate the value at the path of the
// rule, and add their errors to the checker.
func goChecks() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"object-meta-update":  updatedObjectMeta,
		"labels":              func(c *checker, now, _ document.Value) { c.labels(now) },
		"annotations":         func(c *checker, now, _ document.Value) { c.annotations(now) },
		"qualified-finalizer": qualifiedFinalizer,

		"label-selector":             labelSelector,
		"node-requirement":           nodeRequirement,
		"preferred-node-requirement": preferredNodeRequirement,
		"node-field-requirement":     nodeFieldRequirement,
		"match-label-keys":           matchLabelKeys,
		"controller-selects":         controllerSelects,

		"port": port, "port-or-name": portOrName, "ip": ip, "new-ip": newIP, "new-cidr": newCIDR,
		"user-id": userID, "group-id": groupID, "sysctl-name": sysctlName, "file-mode": fileMode,
		"absolute-path": absolutePath, "trimmed": trimmed, "csi-driver": csiDriver,
		"domain-prefixed-path": domainPrefixedPath, "group-version": groupVersion, "any-group-version": anyGroupVersion,
		"int-or-percent": intOrPercentFormat, "percent-limit": percentLimit,

		"pod-annotations": podAnnotations, "template-annotations": templateAnnotations, "pod-profiles": podProfiles,
		"pod-update": podUpdate, "ephemeral-containers-update": ephemeralContainersUpdate, "pod-resize": podResize, "host-ports": hostPorts, "own-host-ports": ownHostPorts,
		"host-network-ports": hostNetworkPorts, "dns-config": dnsConfig, "toleration": toleration,
		"os-fields": osFields, "node-annotations": nodeAnnotations, "node-taints": nodeTaints, "node-amounts": nodeAmounts, "pod-cidrs": podCIDRs,
		"pod-cidrs-frozen": podCIDRsFrozen, "file-key-volumes": fileKeyVolumes, "spread-not-repeated": spreadNotRepeated,
		"spread-min-domains": spreadMinDomains, "privilege-escalation": privilegeEscalation,
		"app-armor-path": appArmorPath, "init-name": initName, "ephemeral-name": ephemeralName, "ephemeral-target": ephemeralTarget, "ephemeral-fields": ephemeralFields,

		"resource-list": resourceList, "pod-resources": podResources, "container-resources": containerResources,
		"resize-policy": resizePolicy, "quota-resource": quotaResource, "scopes-frozen": scopesFrozen,

		"env-sources": envSources, "env-from-sources": envFromSources, "field-ref": fieldRef, "resource-ref": resourceRef,
		"mounted-volume": mountedVolume, "mount-path": mountPath, "mount-propagation": mountPropagation,
		"recursive-read-only": recursiveReadOnly, "volume-device": volumeDevice,
		"sleep-seconds": sleepSeconds,

		"downward-file": downwardFile, "fibre-channel": fibreChannel, "single-projection": singleProjection,
		"single-access-mode": singleAccessMode, "claim-storage": claimStorage, "data-source-kind": dataSourceKind,
		"claim-update": claimUpdate, "volume-update": volumeUpdate, "node-affinity-frozen": nodeAffinityFrozen,
		"volume-capacity": volumeCapacity, "data-sources": dataSources, "claim-of-pod": claimOfPod, "projected-paths": projectedPaths, "flex-option": flexOption,
		"quobyte-registry": quobyteRegistry, "iscsi-name": iscsiName, "iscsi-portal-length": iscsiPortalLength,
		"not-recycled-root": notRecycledRoot,

		"progress-deadline": progressDeadline, "rollout-progress": rolloutProgress, "daemon-rollout": daemonRollout,
		"revision-data": revisionData, "job-selects": jobSelects, "job-hostnames": jobHostnames,
		"job-completions": jobCompletions, "job-template": jobTemplate, "failed-indexes": failedIndexes,
		"cron-job-name": cronJobName, "schedule-zone": scheduleZone, "cron-timezone": cronTimeZone,

		"frozen-data": frozenData, "not-in-binary": notInBinary, "config-map-size": configMapSize,
		"secret-size": secretSize, "secret-type": secretType,

		"service-update": serviceUpdate, "service-has-ports": serviceHasPorts, "external-name": externalName,
		"headless-type": headlessType, "cluster-ips": clusterIPs, "node-ports-unique": nodePortsUnique,
		"ports-unique": portsUnique, "external-traffic": externalTraffic, "service-port-name": servicePortName,
		"endpoint-subset-size": endpointSubsetSize, "endpoint-port-name": endpointPortName,

		"domain-name": domainName, "webhook-client": webhookClient, "review-versions": reviewVersions,
		"admission-resources": admissionResources, "param-version": paramVersion, "param-kind": paramKind,
		"expression-name": expressionName, "unused-patch": unusedPatch, "audit-annotation": auditAnnotation,
		"flow-verbs": checkFlowVerbs, "flow-namespaces": flowNamespaces, "flow-paths": flowPaths,
		"hand-size": handSize, "mandatory-flow-schema": mandatoryFlowSchema, "mandatory-priority-level": mandatoryPriorityLevel,

		"limit-type": limitType, "limit-amounts": limitAmounts, "quota-scopes": quotaScopes, "quota-scope-selector": quotaScopeSelector,
		"endpoint-ip": endpointIP, "slice-endpoints": sliceEndpoints, "event-type": eventType,
		"certificate-request": certificateRequest, "signer-name": signerName, "key-usage": keyUsage,
		"exit-codes": exitCodes, "one-requirement": oneRequirement, "success-rule": successRule,
		"generated-selector": generatedSelector,

		"not-both-resources": notBothResources, "ingress-class-annotation": ingressClassAnnotation,
		"ingress-path": ingressPath, "ingress-backend": ingressBackend, "policy-types": policyTypes,
		"policy-port": policyPort, "policy-peer": policyPeer, "ip-block-except": ipBlockExcept,
		"ingress-class-namespace": ingressClassNamespace,
		"autoscaler-metrics":      autoscalerMetrics, "autoscaler-utilization": autoscalerUtilization,
		"metric-source": metricSource, "metric-resource": metricResource, "priority-value": priorityValue,
		"overhead": overhead, "unique-tolerations": uniqueTolerations, "lease-strategy": leaseStrategy, "service-cidrs": serviceCIDRs,
		"topologies": topologies, "parameters": parameters, "driver-frozen": driverFrozen, "topology-keys": topologyKeys,
		"attachment-source": attachmentSource,
		"autoscaler-bounds": autoscalerBounds, "access-review": accessReview,
	}
}
