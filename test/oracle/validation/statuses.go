package oracle

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
	"k8s.io/utils/clock"
)

// statusStrategies maps kinds to kube-apiserver's strategies for the status subresource.
var statusStrategies = map[schema.GroupKind]rest.RESTUpdateStrategy{
	{Group: "", Kind: "Namespace"}:             namespace.StatusStrategy,
	{Group: "", Kind: "Node"}:                  node.StatusStrategy,
	{Group: "", Kind: "PersistentVolume"}:      persistentvolume.StatusStrategy,
	{Group: "", Kind: "PersistentVolumeClaim"}: persistentvolumeclaim.StatusStrategy,
	{Group: "", Kind: "Pod"}:                   pod.StatusStrategy,
	{Group: "", Kind: "ReplicationController"}: replicationcontroller.StatusStrategy,
	{Group: "", Kind: "ResourceQuota"}:         resourcequota.StatusStrategy,
	{Group: "", Kind: "Service"}:               service.StatusStrategy,

	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}: validatingadmissionpolicy.NewStatusStrategy(validatingadmissionpolicy.NewStrategy(nil, nil)),

	{Group: "apps", Kind: "DaemonSet"}:                                daemonset.StatusStrategy,
	{Group: "apps", Kind: "Deployment"}:                               deployment.StatusStrategy,
	{Group: "apps", Kind: "ReplicaSet"}:                               replicaset.StatusStrategy,
	{Group: "apps", Kind: "StatefulSet"}:                              statefulset.StatusStrategy,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           horizontalpodautoscaler.StatusStrategy,
	{Group: "batch", Kind: "CronJob"}:                                 cronjob.StatusStrategy,
	{Group: "batch", Kind: "Job"}:                                     job.StatusStrategy,
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: certificates.StatusStrategy,
	{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}:     podcertificaterequest.NewStatusStrategy(podcertificaterequest.NewStrategy(), authorizerfactory.NewAlwaysAllowAuthorizer(), clock.RealClock{}),

	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 flowschema.StatusStrategy,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: prioritylevelconfiguration.StatusStrategy,

	{Group: "networking.k8s.io", Kind: "Ingress"}:                       ingress.StatusStrategy,
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:                   servicecidr.StatusStrategy,
	{Group: "policy", Kind: "PodDisruptionBudget"}:                      poddisruptionbudget.StatusStrategy,
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:                   resourceclaim.NewStatusStrategy(claimStrategy),
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}:                 devicetaintrule.StatusStrategy,
	{Group: "storage.k8s.io", Kind: "CSINode"}:                          csinode.StatusStrategy,
	{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: storagemigration.StatusStrategy,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                 volumeattachment.StatusStrategy,
}

// upstreamStatusVerdict returns the errors of kube-apiserver's validation of an update from old to object through the
// status subresource. ok is false if there is no result.
func upstreamStatusVerdict(object, old runtime.Object, gvk schema.GroupVersionKind) (upstream verdict, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	s := statusStrategies[gvk.GroupKind()]
	object, old = object.DeepCopyObject(), old.DeepCopyObject()
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, false
	}
	ctx := requestFor(s, gvk, m)
	if isStatusPrepared(ctx, s, object, old) {
		return nil, false
	}
	return causes(rest.BeforeUpdate(s, ctx, object, old))
}

// isStatusPrepared reports whether the strategy s changes object before kube-apiserver validates it. The validation
// result would then be that of a different object.
func isStatusPrepared(ctx context.Context, s rest.RESTUpdateStrategy, object, old runtime.Object) bool {
	prepared := object.DeepCopyObject()
	s.PrepareForUpdate(ctx, prepared, old)
	m, err := meta.Accessor(prepared)
	if err != nil {
		return true
	}
	if original, err := meta.Accessor(object); err == nil {
		m.SetDeletionTimestamp(original.GetDeletionTimestamp()) // kube-apiserver restores it after the strategy has run
	}
	return !equality.Semantic.DeepEqual(object, prepared)
}

// isChangedByConversion reports whether decoding text to kube-apiserver's internal version, object, and converting that
// back to gvk changes it, for instance because the conversion makes two fields equal.
func isChangedByConversion(object runtime.Object, gvk schema.GroupVersionKind, text []byte) bool {
	back, err := legacyscheme.Scheme.ConvertToVersion(object, gvk.GroupVersion())
	if err != nil {
		return true
	}
	plain, _, err := unstrictDecoder.Decode(text, nil, nil)
	if err != nil {
		return true
	}
	a, errA := json.Marshal(back)
	b, errB := json.Marshal(plain)
	return errA != nil || errB != nil || string(a) != string(b)
}
