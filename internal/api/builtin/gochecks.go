package builtin

import "github.com/cadastre/cadastre/document"

// withOrigin returns a check that runs f and sets the origin of its errors, so that errors of declarative validation with
// that origin replace them.
func withOrigin(origin string, f func(c *checker, value, old document.Value)) func(c *checker, value, old document.Value) {
	return func(c *checker, value, old document.Value) {
		before := len(c.errs)
		f(c, value, old)
		c.errs[before:].WithOrigin(origin)
	}
}

// goChecks returns the checks that are Go functions, by their names in rules. They validate the value at the path of the
// rule, and add their errors to the checker.
func goChecks() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"object-meta-update":  checkObjectMetaUpdate,
		"labels":              func(c *checker, value, _ document.Value) { c.checkLabels(value) },
		"annotations":         func(c *checker, value, _ document.Value) { c.checkAnnotations(value) },
		"qualified-finalizer": checkQualifiedFinalizer,

		"label-selector":             checkLabelSelector,
		"node-requirement":           checkNodeRequirement,
		"preferred-node-requirement": checkPreferredNodeRequirement,
		"node-field-requirement":     checkNodeFieldRequirement,
		"match-label-keys":           checkMatchLabelKeys,
		"controller-selects":         checkControllerSelector,

		"port": checkPort, "port-or-name": checkPortOrName, "ip": checkIP, "new-ip": checkNewIP, "new-cidr": checkNewCIDR,
		"user-id": checkUserID, "group-id": checkGroupID, "sysctl-name": checkSysctlName, "file-mode": checkFileMode,
		"absolute-path": checkAbsolutePath, "trimmed": checkTrimmed, "csi-driver": checkCSIDriver,
		"domain-prefixed-path": checkDomainPrefixedPath, "group-version": checkGroupVersion, "any-group-version": checkAnyGroupVersion,
		"int-or-percent": checkIntOrPercentFormat, "percent-limit": checkPercentLimit,

		"pod-annotations": checkPodAnnotations, "template-annotations": checkTemplateAnnotations, "pod-profiles": checkPodProfiles,
		"pod-update": checkPodUpdate, "ephemeral-containers-update": checkEphemeralContainersUpdate, "pod-resize": checkPodResize, "host-ports": checkHostPorts, "own-host-ports": checkOwnHostPorts,
		"host-network-ports": checkHostNetworkPorts, "dns-config": checkDNSConfig, "toleration": checkToleration,
		"os-fields": checkOSFields, "node-annotations": checkNodeAnnotations, "node-taints": checkNodeTaints, "node-amounts": checkNodeAmounts, "pod-cidrs": checkPodCIDRs,
		"pod-cidrs-frozen": checkPodCIDRsFrozen, "file-key-volumes": checkFileKeyVolumes, "spread-not-repeated": checkSpreadNotRepeated,
		"spread-min-domains": checkSpreadMinDomains, "privilege-escalation": checkPrivilegeEscalation,
		"app-armor-path": checkAppArmorPath, "init-name": checkInitName, "ephemeral-name": checkEphemeralName, "ephemeral-target": checkEphemeralTarget, "ephemeral-fields": checkEphemeralFields,

		"resource-list": checkResourceList, "pod-resources": checkPodResources, "container-resources": checkContainerResources,
		"resize-policy": checkResizePolicy, "init-resize-restart": checkInitResizeRestart, "quota-resource": checkQuotaResource, "scopes-frozen": checkScopesFrozen,

		"env-sources": checkEnvSources, "env-from-sources": checkEnvFromSources, "field-ref": checkFieldRef, "resource-ref": checkResourceRef,
		"mounted-volume": checkMountedVolume, "mount-path": checkMountPath, "mount-propagation": checkMountPropagation,
		"recursive-read-only": checkRecursiveReadOnly, "volume-device": checkVolumeDevice,
		"sleep-seconds": checkSleepSeconds,

		"downward-file": checkDownwardFile, "fibre-channel": checkFibreChannel, "single-projection": checkSingleProjection,
		"single-access-mode": checkSingleAccessMode, "claim-storage": checkClaimStorage, "data-source-kind": checkDataSourceKind,
		"claim-update": checkClaimUpdate, "volume-update": checkVolumeUpdate, "node-affinity-frozen": checkNodeAffinityFrozen,
		"volume-capacity": checkVolumeCapacity, "data-sources": checkDataSources, "claim-of-pod": checkClaimOfPod, "projected-paths": checkProjectedPaths, "flex-option": checkFlexOption,
		"quobyte-registry": checkQuobyteRegistry, "iscsi-name": checkISCSIName, "iscsi-portal-length": checkISCSIPortalLength,
		"not-recycled-root": checkNotRecycledRoot,

		"progress-deadline": checkProgressDeadline, "rollout-progress": checkRolloutProgress, "daemon-rollout": checkDaemonRollout,
		"revision-data": checkRevisionData, "job-selects": checkJobSelector, "job-hostnames": checkJobHostnames,
		"job-completions": checkJobCompletions, "job-template": checkJobTemplate, "failed-indexes": checkFailedIndexes,
		"cron-job-name": checkCronJobName, "schedule-zone": checkScheduleZone, "cron-timezone": checkCronTimeZone,

		"frozen-data": checkFrozenData, "not-in-binary": checkNotInBinary, "config-map-size": checkConfigMapSize,
		"secret-size": checkSecretSize, "secret-type": checkSecretType,

		"service-update": checkServiceUpdate, "service-has-ports": checkServiceHasPorts, "external-name": checkExternalName,
		"headless-type": checkHeadlessType, "cluster-ips": checkClusterIPs, "node-ports-unique": checkNodePortsUnique,
		"ports-unique": checkPortsUnique, "external-traffic": checkExternalTraffic, "service-port-name": checkServicePortName,
		"endpoint-subset-size": checkEndpointSubsetSize, "endpoint-port-name": checkEndpointPortName,

		"domain-name": checkDomainName, "webhook-client": checkWebhookClient, "review-versions": checkReviewVersions,
		"admission-resources": checkAdmissionResources, "param-version": checkParamVersion, "param-kind": checkParamKind,
		"expression-name": checkExpressionName, "unused-patch": checkUnusedPatch, "audit-annotation": checkAuditAnnotation,
		"flow-verbs": checkFlowVerbs, "flow-namespaces": checkFlowNamespaces, "flow-paths": checkFlowPaths,
		"hand-size": checkHandSize, "mandatory-flow-schema": checkMandatoryFlowSchema, "mandatory-priority-level": checkMandatoryPriorityLevel,

		"limit-type": checkLimitType, "limit-amounts": checkLimitAmounts, "quota-scopes": checkQuotaScopes, "quota-scope-selector": checkQuotaScopeSelector,
		"endpoint-ip": checkEndpointIP, "slice-endpoints": checkSliceEndpoints, "event-type": checkEventType,
		"exit-codes": checkExitCodes, "one-requirement": checkOneRequirement, "success-rule": checkSuccessRule,
		"generated-selector": checkGeneratedSelector,

		"not-both-resources": checkNotBothResources, "ingress-class-annotation": checkIngressClassAnnotation,
		"ingress-path": checkIngressPath, "ingress-backend": checkIngressBackend, "policy-types": checkPolicyTypes,
		"policy-port": checkPolicyPort, "policy-peer": checkPolicyPeer, "ip-block-except": checkIPBlockExcept,
		"ingress-class-namespace": checkIngressClassNamespace,
		"autoscaler-metrics":      checkAutoscalerMetrics, "autoscaler-utilization": checkAutoscalerUtilization,
		"metric-source": checkMetricSource, "metric-resource": checkMetricResource, "priority-value": checkPriorityValue,
		"overhead": checkOverhead, "unique-tolerations": checkUniqueTolerations, "lease-strategy": checkLeaseStrategy, "service-cidrs": checkServiceCIDRs,
		"topologies": checkTopologies, "parameters": checkParameters, "driver-frozen": checkDriverFrozen, "topology-keys": checkTopologyKeys,
		"attachment-source": checkAttachmentSource,
		"autoscaler-bounds": checkAutoscalerBounds, "access-review": checkAccessReview,
	}
}
