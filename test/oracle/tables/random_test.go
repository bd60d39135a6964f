package tables

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// fields lists the fields that are generated: the fields that columns show, and their parents.
var fields = set(`
	metadata name namespace labels annotations creationTimestamp deletionTimestamp ownerReferences
	spec status template containers initContainers image restartPolicy nodeName nodeSelector phase
	reason conditions type message containerStatuses initContainerStatuses restartCount ready started
	state lastState waiting running terminated exitCode signal finishedAt podIP podIPs ip
	nominatedNodeName readinessGates conditionType minAvailable maxUnavailable disruptionsAllowed
	replicas readyReplicas updatedReplicas availableReplicas selector matchLabels matchExpressions key
	operator values desiredNumberScheduled currentNumberScheduled numberReady updatedNumberScheduled
	numberAvailable revision controller apiVersion kind completions parallelism succeeded startTime
	completionTime schedule timeZone suspend active lastScheduleTime jobTemplate clusterIPs
	externalIPs externalName ports port nodePort protocol loadBalancer ingress hostname
	ingressClassName rules host tls parameters apiGroup podSelector cidrs parentRef group resource
	subsets addresses address addressType endpoints nodeInfo kubeletVersion osImage kernelVersion
	containerRuntimeVersion architecture unschedulable firstTimestamp lastTimestamp eventTime series
	count lastObservedTime involvedObject fieldPath source component host reportingComponent
	reportingController reportingInstance regarding note deprecatedCount deprecatedFirstTimestamp
	deprecatedLastTimestamp deprecatedSource data binaryData capacity accessModes
	persistentVolumeReclaimPolicy claimRef storageClassName volumeAttributesClassName volumeMode
	volumeName hard used scaleTargetRef metrics currentMetrics external pods object containerResource
	target current averageValue averageUtilization value minReplicas maxReplicas currentReplicas
	roleRef subjects signerName username expirationSeconds certificate holderIdentity provisioner
	reclaimPolicy volumeBindingMode allowVolumeExpansion driverName attacher persistentVolumeName
	attached drivers attachRequired podInfoOnMount storageCapacity tokenRequests audience
	requiresRepublish volumeLifecycleModes webhooks validations mutations paramKind policyName
	paramRef globalDefault preemptionPolicy handler priorityLevelConfiguration matchingPrecedence
	distinguisherMethod limited nominalConcurrencyShares limitResponse queuing queues handSize
	queueLengthLimit allocation reservedFor driver pool uid`)

// pools maps STRUCT.FIELD or FIELD to the values that are generated for string fields.
var pools = map[string][]string{
	"PodCondition.type":                       {"Ready", "Initialized", "PodScheduled", "gate"},
	"readinessGates.conditionType":            {"gate", "Ready"},
	"conditionType":                           {"gate", "Ready", "other"},
	"PodCondition.reason":                     {"SchedulingGated", "", "Unschedulable"},
	"PodStatus.reason":                        {"", "", "NodeLost", "Evicted"},
	"ContainerStateWaiting.reason":            {"", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff"},
	"ContainerStateTerminated.reason":         {"", "Completed", "Error", "OOMKilled"},
	"PodStatus.phase":                         {"Pending", "Running", "Succeeded", "Failed", "Unknown"},
	"phase":                                   {"Bound", "Available", "Active", "Terminating"},
	"Container.restartPolicy":                 {"Always", "Always", "Never"},
	"NodeCondition.type":                      {"Ready", "MemoryPressure"},
	"NodeAddress.type":                        {"InternalIP", "ExternalIP", "Hostname"},
	"JobCondition.type":                       {"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"},
	"CertificateSigningRequestCondition.type": {"Approved", "Denied", "Failed", "Other"},
	"FlowSchemaCondition.type":                {"Dangling", "Other"},
	"ServiceSpec.type":                        {"ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer", "ExternalName", "Other"},
	"MetricSpec.type":                         {"External", "Pods", "Object", "Resource", "ContainerResource", "Other"},
	"status":                                  {"True", "False", "Unknown"},
	"operator":                                {"In", "NotIn", "Exists", "DoesNotExist", "Odd"},
	"key":                                     {"app", "tier", "bad key!"},
	"accessModes":                             {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"},
	"Subject.kind":                            {"User", "Group", "ServiceAccount", "Robot"},
	"apiVersion":                              {"v1", "apps/v1", "example.org/v1"},
	"protocol":                                {"TCP", "UDP"},
	"ip":                                      {"10.0.0.1", "10.0.0.2", "fd00::1", ""},
	"message":                                 {" it happened\n", "done", "<&> \u00e9"},
	"labels":                                  {"app", "tier", "kubernetes.io/role", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/", "node-role.kubernetes.io/worker"},
	"annotations":                             {"ingressclass.kubernetes.io/is-default-class", "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class", "volume.beta.kubernetes.io/storage-class"},
	"hard":                                    {"cpu", "requests.cpu", "limits.cpu", "limits.memory", "limits", "pods"},
	"used":                                    {"cpu", "requests.cpu", "limits.cpu", "limits.memory", "limits", "pods"},
	"capacity":                                {"storage", "cpu"},
}

var (
	words      = []string{"web", "db", "cache", "a b", "<&>", "", "true", "Always"}
	quantities = []string{"0", "1", "1500m", "1Gi", "0.5", "100M", "2048Ki", "1e3", "100m"}
	ages       = []time.Duration{-time.Hour, 0, 5 * time.Second, 119 * time.Second, 5*time.Minute + 30*time.Second, 2 * time.Hour,
		7*time.Hour + 59*time.Minute, 40 * time.Hour, 5*24*time.Hour + 3*time.Hour, 100 * 24 * time.Hour, 3 * 365 * 24 * time.Hour}
)

func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(text) {
		m[word] = true
	}
	return m
}

// maker generates random objects.
type maker struct{ *rand.Rand }

func (m maker) object(t *testing.T, kind schema.GroupVersionKind) runtime.Object {
	t.Helper()
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	m.fill(reflect.ValueOf(object).Elem(), "", "")
	object.GetObjectKind().SetGroupVersionKind(kind)
	return object
}

// fill sets v to a random value. field is the name of the struct field that contains v, structName that of the struct.
func (m maker) fill(v reflect.Value, structName, field string) {
	switch v.Addr().Interface().(type) {
	case *metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(m.time())))
		return
	case *metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(m.time())))
		return
	case *resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(m.pick(quantities))))
		return
	case *intstr.IntOrString:
		v.Set(reflect.ValueOf([]intstr.IntOrString{intstr.FromInt32(2), intstr.FromString("25%")}[m.IntN(2)]))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		m.fillStruct(v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), structName, field)
	case reflect.Slice:
		m.fillSlice(v, structName, field)
	case reflect.Map:
		m.fillMap(v, structName, field)
	case reflect.String:
		v.SetString(m.text(structName, field))
	case reflect.Bool:
		v.SetBool(m.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 0, 1, 2, 3, 443, 30080}[m.IntN(7)])
	}
}

// fillStruct sets some of the fields of the struct v to random values.
func (m maker) fillStruct(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case strings.Contains(options, "inline"):
			if f.Type.Kind() == reflect.Struct && f.Type.Name() != "TypeMeta" {
				m.fillStruct(v.Field(i))
			}
		case !fields[name]:
		case name == "metadata" || name == "spec" || name == "status", m.IntN(4) > 0:
			m.fill(v.Field(i), v.Type().Name(), name)
		}
	}
}

func (m maker) fillSlice(v reflect.Value, structName, field string) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(m.pick(words)))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), m.IntN(5), 5))
	for i := range v.Len() {
		m.fill(v.Index(i), structName, field)
	}
}

func (m maker) fillMap(v reflect.Value, structName, field string) {
	v.Set(reflect.MakeMap(v.Type()))
	for range m.IntN(4) {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString(m.text(structName, field))
		m.fill(value, "", "")
		v.SetMapIndex(key, value)
	}
}

func (m maker) text(structName, field string) string {
	if pool := pools[structName+"."+field]; pool != nil {
		return m.pick(pool)
	}
	if pool := pools[field]; pool != nil {
		return m.pick(pool)
	}
	return m.pick(words)
}

func (m maker) pick(pool []string) string { return pool[m.IntN(len(pool))] }

func (m maker) time() time.Time {
	return time.Now().UTC().Truncate(time.Second).Add(-ages[m.IntN(len(ages))])
}
