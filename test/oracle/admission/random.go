package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// pick returns a randomly chosen element of all.
func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

// some returns a YAML flow map with a random subset of keys. It calls value for the value of each key.
func some(r *rand.Rand, value func() string, keys ...string) string {
	var fields []string
	for _, key := range keys {
		if r.IntN(2) == 0 {
			fields = append(fields, key+": "+value())
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// times returns a YAML flow list with 0 to maxItems items. It calls item with the index of each item.
func times(r *rand.Rand, maxItems int, item func(i int) string) string {
	items := make([]string, r.IntN(maxItems+1))
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// resourceNames are the resources that random pods request and limit.
var resourceNames = []string{"cpu", "memory", "hugepages-2Mi"}

func amount(r *rand.Rand) func() string {
	return func() string {
		return pick(r, `"0"`, "1m", "250m", "500m", `"1"`, `"2"`, `"3"`, "1Ki", "1Mi", `"1536"`, "1Gi", "1G", "2Gi", "8Pi", "100Pi", `"1e3"`, "1500u")
	}
}

func randomResources(r *rand.Rand) string {
	names := resourceNames[:1+r.IntN(len(resourceNames))]
	return fmt.Sprintf("{requests: %s, limits: %s}", some(r, amount(r), names...), some(r, amount(r), names...))
}

func randomContainer(r *rand.Rand, prefix string) func(int) string {
	return func(i int) string {
		policy := ""
		if prefix == "i" && r.IntN(3) == 0 {
			policy = ", restartPolicy: Always"
		}
		return fmt.Sprintf("{name: %s%d, resources: %s%s}", prefix, i, randomResources(r), policy)
	}
}

// randomLimits returns a pod or a PersistentVolumeClaim, and at most one LimitRange, because kube-apiserver evaluates
// several LimitRanges in random order. Each bound of the LimitRange has at most two resources.
func randomLimits(r *rand.Rand) string {
	ratio := func() string { return pick(r, `"1"`, "1500m", `"2"`, `"10"`) }
	item := func(kind string) string {
		names := []string{"cpu", "memory"}
		if kind == "PersistentVolumeClaim" {
			names = []string{"storage"}
			return fmt.Sprintf("{type: %s, min: %s, max: %s}", kind, some(r, amount(r), names...), some(r, amount(r), names...))
		}
		text := fmt.Sprintf("{type: %s, ", kind)
		for _, field := range []string{"min", "max", "default", "defaultRequest"} {
			if r.IntN(3) == 0 {
				text += fmt.Sprintf("%s: %s, ", field, some(r, amount(r), names...))
			}
		}
		if r.IntN(4) == 0 {
			text += fmt.Sprintf("maxLimitRequestRatio: %s, ", some(r, ratio, names...))
		}
		return strings.TrimSuffix(text, ", ") + "}"
	}
	kinds := []string{"Container", "Pod", "PersistentVolumeClaim"}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	stored := fmt.Sprintf("stored: {kind: LimitRange, metadata: {name: l}, spec: {limits: %s}}", times(r, len(kinds), func(i int) string { return item(kinds[i]) }))
	if r.IntN(5) == 0 {
		return fmt.Sprintf("resource: persistentvolumeclaims\n%s\nobject: {spec: {resources: {requests: %s}}}", stored, some(r, amount(r), "storage"))
	}
	spec := fmt.Sprintf("containers: %s, initContainers: %s", times(r, 2, randomContainer(r, "c")), times(r, 3, randomContainer(r, "i")))
	if r.IntN(4) == 0 {
		spec += ", resources: " + randomResources(r)
	}
	if r.IntN(4) == 0 {
		spec += ", overhead: " + some(r, amount(r), "cpu", "memory")
	}
	return fmt.Sprintf("resource: pods\n%s\nobject: {spec: {%s}}", stored, spec)
}

func randomTaints(r *rand.Rand) string {
	taint := func(int) string {
		return fmt.Sprintf("{key: %s, effect: %s}", pick(r, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "x"), pick(r, "NoSchedule", "NoExecute", "PreferNoSchedule"))
	}
	return fmt.Sprintf("resource: nodes\nobject: {spec: {taints: %s}}", times(r, 4, taint))
}

func randomTolerations(r *rand.Rand) string {
	toleration := func(int) string {
		text := "{operator: Exists"
		if r.IntN(4) > 0 {
			text += ", key: " + pick(r, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "x")
		}
		if r.IntN(4) > 0 {
			text += ", effect: " + pick(r, "NoExecute", "NoExecute", "NoSchedule")
		}
		return text + "}"
	}
	return fmt.Sprintf("resource: pods\nobject: {spec: {tolerations: %s}}", times(r, 3, toleration))
}

func randomPriority(r *rand.Rand) string {
	number := func() string { return fmt.Sprint(r.IntN(5)) }
	policy := func() string { return pick(r, "Never", "PreemptLowerPriority") }
	var lines []string
	for i, name := range []string{"a", "b", "c"} { // the values differ, because kube-apiserver picks either of two default classes with the same value
		if r.IntN(3) == 0 {
			continue
		}
		class := fmt.Sprintf("{kind: PriorityClass, metadata: {name: %s}, value: %d, globalDefault: %v", name, 3*i-1+r.IntN(3), r.IntN(3) == 0)
		if r.IntN(2) == 0 {
			class += ", preemptionPolicy: " + policy()
		}
		lines = append(lines, "stored: "+class+"}")
	}
	if r.IntN(4) == 0 {
		operation, name := pick(r, "CREATE", "UPDATE"), pick(r, "a", "b", "d")
		class := fmt.Sprintf("{metadata: {name: %s}, value: 1, globalDefault: %v}", name, r.IntN(3) > 0)
		lines = append([]string{"operation: " + operation, "resource: priorityclasses.scheduling.k8s.io"}, append(lines, "object: "+class)...)
		if operation == "UPDATE" {
			lines = append(lines, fmt.Sprintf("old: {metadata: {name: %s}, value: 1}", name))
		}
		return strings.Join(lines, "\n")
	}
	spec := func() string {
		var fields []string
		if r.IntN(2) == 0 {
			fields = append(fields, "priority: "+number())
		}
		if r.IntN(2) == 0 {
			fields = append(fields, "preemptionPolicy: "+policy())
		}
		if r.IntN(2) == 0 {
			fields = append(fields, "priorityClassName: "+pick(r, "a", "b", "c", "d"))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	lines = append([]string{"resource: pods"}, append(lines, "object: {spec: "+spec()+"}")...)
	if r.IntN(3) == 0 {
		lines = append([]string{"operation: UPDATE"}, append(lines, "old: {spec: "+spec()+"}")...)
	}
	return strings.Join(lines, "\n")
}

func randomResize(r *rand.Rand) string {
	claim := func() string {
		metadata, class := "{}", ""
		if r.IntN(4) == 0 {
			metadata = fmt.Sprintf("{annotations: {volume.beta.kubernetes.io/storage-class: %s}}", pick(r, `""`, "a", "b"))
		}
		if r.IntN(4) > 0 {
			class = ", storageClassName: " + pick(r, "a", "a", "b", `""`)
		}
		return fmt.Sprintf("{metadata: %s, spec: {resources: {requests: %s}%s}, status: {phase: %s}}",
			metadata, some(r, func() string { return pick(r, "1Gi", "1G", "2Gi", "1024Mi", "3Gi") }, "storage"), class, pick(r, "Bound", "Bound", "Bound", "Pending"))
	}
	stored := "stored: {kind: StorageClass, metadata: {name: a}, provisioner: p, allowVolumeExpansion: true}"
	return fmt.Sprintf("operation: UPDATE\nresource: persistentvolumeclaims\n%s\nobject: %s\nold: %s", stored, claim(), claim())
}
