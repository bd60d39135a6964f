package main

import (
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
	"k8s.io/utils/clock"
)

// writeEndpoint is an endpoint to which objects can be written, with its strategy.
type writeEndpoint struct {
	resource, name, version, kind string
	strategy                      any
}

// writeEndpoints lists the endpoints whose strategies do not require a running server.
var writeEndpoints = []writeEndpoint{
	{"namespaces", "main", "v1", "Namespace", namespace.Strategy},
	{"namespaces", "status", "v1", "Namespace", namespace.StatusStrategy},
	{"namespaces", "finalize", "v1", "Namespace", namespace.FinalizeStrategy},
	{"nodes", "main", "v1", "Node", node.Strategy},
	{"nodes", "status", "v1", "Node", node.StatusStrategy},
	{"persistentvolumes", "main", "v1", "PersistentVolume", persistentvolume.Strategy},
	{"persistentvolumes", "status", "v1", "PersistentVolume", persistentvolume.StatusStrategy},
	{"persistentvolumeclaims", "main", "v1", "PersistentVolumeClaim", persistentvolumeclaim.Strategy},
	{"persistentvolumeclaims", "status", "v1", "PersistentVolumeClaim", persistentvolumeclaim.StatusStrategy},
	{"pods", "main", "v1", "Pod", pod.Strategy},
	{"pods", "status", "v1", "Pod", pod.StatusStrategy},
	{"podtemplates", "main", "v1", "PodTemplate", podtemplate.Strategy},
	{"replicationcontrollers", "main", "v1", "ReplicationController", replicationcontroller.Strategy},
	{"replicationcontrollers", "status", "v1", "ReplicationController", replicationcontroller.StatusStrategy},
	{"resourcequotas", "main", "v1", "ResourceQuota", resourcequota.Strategy},
	{"resourcequotas", "status", "v1", "ResourceQuota", resourcequota.StatusStrategy},
	{"secrets", "main", "v1", "Secret", secret.Strategy},
	{"services", "main", "v1", "Service", service.Strategy},
	{"services", "status", "v1", "Service", service.StatusStrategy},
	{"serviceaccounts", "main", "v1", "ServiceAccount", serviceaccount.Strategy},
	{"configmaps", "main", "v1", "ConfigMap", configmap.Strategy},
	{"endpoints", "main", "v1", "Endpoints", endpoint.Strategy},
	{"events", "main", "v1", "Event", event.Strategy},
	{"limitranges", "main", "v1", "LimitRange", limitrange.Strategy},
	{"mutatingwebhookconfigurations.admissionregistration.k8s.io", "main", "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", mutatingwebhookconfiguration.Strategy},
	{"validatingwebhookconfigurations.admissionregistration.k8s.io", "main", "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", validatingwebhookconfiguration.Strategy},
	{"controllerrevisions.apps", "main", "apps/v1", "ControllerRevision", controllerrevision.Strategy},
	{"daemonsets.apps", "main", "apps/v1", "DaemonSet", daemonset.Strategy},
	{"daemonsets.apps", "status", "apps/v1", "DaemonSet", daemonset.StatusStrategy},
	{"deployments.apps", "main", "apps/v1", "Deployment", deployment.Strategy},
	{"deployments.apps", "status", "apps/v1", "Deployment", deployment.StatusStrategy},
	{"replicasets.apps", "main", "apps/v1", "ReplicaSet", replicaset.Strategy},
	{"replicasets.apps", "status", "apps/v1", "ReplicaSet", replicaset.StatusStrategy},
	{"statefulsets.apps", "main", "apps/v1", "StatefulSet", statefulset.Strategy},
	{"statefulsets.apps", "status", "apps/v1", "StatefulSet", statefulset.StatusStrategy},
	{"horizontalpodautoscalers.autoscaling", "main", "autoscaling/v2", "HorizontalPodAutoscaler", horizontalpodautoscaler.Strategy},
	{"horizontalpodautoscalers.autoscaling", "status", "autoscaling/v2", "HorizontalPodAutoscaler", horizontalpodautoscaler.StatusStrategy},
	{"cronjobs.batch", "main", "batch/v1", "CronJob", cronjob.Strategy},
	{"cronjobs.batch", "status", "batch/v1", "CronJob", cronjob.StatusStrategy},
	{"jobs.batch", "main", "batch/v1", "Job", job.Strategy},
	{"jobs.batch", "status", "batch/v1", "Job", job.StatusStrategy},
	{"certificatesigningrequests.certificates.k8s.io", "main", "certificates.k8s.io/v1", "CertificateSigningRequest", certificates.Strategy},
	{"certificatesigningrequests.certificates.k8s.io", "status", "certificates.k8s.io/v1", "CertificateSigningRequest", certificates.StatusStrategy},
	{"certificatesigningrequests.certificates.k8s.io", "approval", "certificates.k8s.io/v1", "CertificateSigningRequest", certificates.ApprovalStrategy},
	{"clustertrustbundles.certificates.k8s.io", "main", "certificates.k8s.io/v1", "ClusterTrustBundle", clustertrustbundle.Strategy},
	{"podcertificaterequests.certificates.k8s.io", "main", "certificates.k8s.io/v1", "PodCertificateRequest", podcertificaterequest.NewStrategy()},
	{"podcertificaterequests.certificates.k8s.io", "status", "certificates.k8s.io/v1", "PodCertificateRequest",
		podcertificaterequest.NewStatusStrategy(podcertificaterequest.NewStrategy(), nil, clock.RealClock{})},
	{"leases.coordination.k8s.io", "main", "coordination.k8s.io/v1", "Lease", lease.Strategy},
	{"endpointslices.discovery.k8s.io", "main", "discovery.k8s.io/v1", "EndpointSlice", endpointslice.Strategy},
	{"flowschemas.flowcontrol.apiserver.k8s.io", "main", "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", flowschema.Strategy},
	{"flowschemas.flowcontrol.apiserver.k8s.io", "status", "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", flowschema.StatusStrategy},
	{"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "main", "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", prioritylevelconfiguration.Strategy},
	{"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "status", "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", prioritylevelconfiguration.StatusStrategy},
	{"ingresses.networking.k8s.io", "main", "networking.k8s.io/v1", "Ingress", ingress.Strategy},
	{"ingresses.networking.k8s.io", "status", "networking.k8s.io/v1", "Ingress", ingress.StatusStrategy},
	{"ingressclasses.networking.k8s.io", "main", "networking.k8s.io/v1", "IngressClass", ingressclass.Strategy},
	{"ipaddresses.networking.k8s.io", "main", "networking.k8s.io/v1", "IPAddress", ipaddress.Strategy},
	{"networkpolicies.networking.k8s.io", "main", "networking.k8s.io/v1", "NetworkPolicy", networkpolicy.Strategy},
	{"servicecidrs.networking.k8s.io", "main", "networking.k8s.io/v1", "ServiceCIDR", servicecidr.Strategy},
	{"servicecidrs.networking.k8s.io", "status", "networking.k8s.io/v1", "ServiceCIDR", servicecidr.StatusStrategy},
	{"runtimeclasses.node.k8s.io", "main", "node.k8s.io/v1", "RuntimeClass", runtimeclass.Strategy},
	{"poddisruptionbudgets.policy", "main", "policy/v1", "PodDisruptionBudget", poddisruptionbudget.Strategy},
	{"poddisruptionbudgets.policy", "status", "policy/v1", "PodDisruptionBudget", poddisruptionbudget.StatusStrategy},
	{"clusterroles.rbac.authorization.k8s.io", "main", "rbac.authorization.k8s.io/v1", "ClusterRole", clusterrole.Strategy},
	{"clusterrolebindings.rbac.authorization.k8s.io", "main", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", clusterrolebinding.Strategy},
	{"roles.rbac.authorization.k8s.io", "main", "rbac.authorization.k8s.io/v1", "Role", role.Strategy},
	{"rolebindings.rbac.authorization.k8s.io", "main", "rbac.authorization.k8s.io/v1", "RoleBinding", rolebinding.Strategy},
	{"deviceclasses.resource.k8s.io", "main", "resource.k8s.io/v1", "DeviceClass", deviceclass.Strategy},
	{"devicetaintrules.resource.k8s.io", "main", "resource.k8s.io/v1", "DeviceTaintRule", devicetaintrule.Strategy},
	{"devicetaintrules.resource.k8s.io", "status", "resource.k8s.io/v1", "DeviceTaintRule", devicetaintrule.StatusStrategy},
	{"resourceslices.resource.k8s.io", "main", "resource.k8s.io/v1", "ResourceSlice", resourceslice.Strategy},
	{"priorityclasses.scheduling.k8s.io", "main", "scheduling.k8s.io/v1", "PriorityClass", priorityclass.Strategy},
	{"csidrivers.storage.k8s.io", "main", "storage.k8s.io/v1", "CSIDriver", csidriver.Strategy},
	{"csinodes.storage.k8s.io", "main", "storage.k8s.io/v1", "CSINode", csinode.Strategy},
	{"csinodes.storage.k8s.io", "status", "storage.k8s.io/v1", "CSINode", csinode.StatusStrategy},
	{"csistoragecapacities.storage.k8s.io", "main", "storage.k8s.io/v1", "CSIStorageCapacity", csistoragecapacity.Strategy},
	{"storageclasses.storage.k8s.io", "main", "storage.k8s.io/v1", "StorageClass", storageclass.Strategy},
	{"volumeattachments.storage.k8s.io", "main", "storage.k8s.io/v1", "VolumeAttachment", volumeattachment.Strategy},
	{"volumeattachments.storage.k8s.io", "status", "storage.k8s.io/v1", "VolumeAttachment", volumeattachment.StatusStrategy},
	{"volumeattributesclasses.storage.k8s.io", "main", "storage.k8s.io/v1", "VolumeAttributesClass", volumeattributesclass.Strategy},
	{"storageversionmigrations.storagemigration.k8s.io", "main", "storagemigration.k8s.io/v1", "StorageVersionMigration", storagemigration.Strategy},
	{"storageversionmigrations.storagemigration.k8s.io", "status", "storagemigration.k8s.io/v1", "StorageVersionMigration", storagemigration.StatusStrategy},
}
