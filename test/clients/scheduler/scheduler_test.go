package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/clients/target"
	"github.com/cadastre/cadastre/test/peers"
)

// schedulingTimeout is the maximum time that the scheduler may take to start and to bind all pods.
const schedulingTimeout = 2 * time.Minute

func TestMain(m *testing.M) { os.Exit(target.Suite{M: m}.Run()) }

// schedulerEnv is a test with a client of the server, its own namespace, and a running scheduler.
type schedulerEnv struct {
	*testing.T
	client    kubernetes.Interface
	namespace string
	scheduler *peers.Process
}

// start starts a scheduler that connects to the server of the tests. It skips the test if the scheduler is not built.
func start(t *testing.T) *schedulerEnv {
	t.Helper()
	if _, err := peers.Program(peers.KubeScheduler); errors.Is(err, peers.ErrNotBuilt) {
		t.Skip(err)
	}
	config := target.Config(t)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := target.WriteKubeconfig(kubeconfig, config, "default"); err != nil {
		t.Fatal(err)
	}
	scheduler, err := peers.StartScheduler(folder, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.Stop)
	return &schedulerEnv{t, client, target.Namespace(t), scheduler}
}

// node creates a ready node with one CPU, which is deleted at the end of the test. It removes the not-ready taint that
// new nodes have, because no kubelet runs.
func (e *schedulerEnv) node(name string, labels map[string]string) {
	e.Helper()
	ctx, nodes := e.Context(), e.client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	e.check(err)
	e.Cleanup(func() { _ = nodes.Delete(context.Background(), name, metav1.DeleteOptions{}) }) // the server may have stopped
	node.Spec.Taints = nil
	node, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
	e.check(err)
	amounts := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("10"),
	}
	node.Status = corev1.NodeStatus{
		Capacity: amounts, Allocatable: amounts,
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
	}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	e.check(err)
}

// pod creates a pod that requests the given amount of CPU. change may modify the pod before it is created; a nil change
// does nothing.
func (e *schedulerEnv) pod(name, cpu string, change func(*corev1.Pod)) {
	e.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "nginx",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
	if change != nil {
		change(pod)
	}
	_, err := e.client.CoreV1().Pods(e.namespace).Create(e.Context(), pod, metav1.CreateOptions{FieldManager: "tester"})
	e.check(err)
}

// wait waits until isDone returns true for the pod with the given name, and returns the pod. It fails the test after
// schedulingTimeout with a message that contains what, a description of the condition.
func (e *schedulerEnv) wait(name, what string, isDone func(*corev1.Pod) bool) *corev1.Pod {
	e.Helper()
	var pod *corev1.Pod
	if !testwait.Within(schedulingTimeout, func() bool {
		var err error
		pod, err = e.client.CoreV1().Pods(e.namespace).Get(e.Context(), name, metav1.GetOptions{})
		e.check(err)
		return isDone(pod)
	}) {
		e.Fatalf("pod %s was not %s within %v: status %+v; the scheduler's log ends with\n%s", name, what, schedulingTimeout, pod.Status, e.scheduler.LogTail())
	}
	return pod
}

func (e *schedulerEnv) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func isBound(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }

func scheduled(pod *corev1.Pod) corev1.PodCondition {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled {
			return condition
		}
	}
	return corev1.PodCondition{}
}

// TestSchedule checks that the scheduler binds pods to nodes with enough room, and sets the condition of pods that fit
// on no node.
func TestSchedule(t *testing.T) {
	e := start(t)
	for i := range 3 {
		e.node(fmt.Sprintf("node-%d", i), map[string]string{"disk": []string{"fast", "slow", "slow"}[i]})
	}
	// Each node has room for two of these pods.
	for i := range 5 {
		e.pod(fmt.Sprintf("pod-%d", i), "450m", nil)
	}
	nodes := map[string]int{}
	for i := range 5 {
		pod := e.wait(fmt.Sprintf("pod-%d", i), "bound", isBound)
		nodes[pod.Spec.NodeName]++
		if c := scheduled(pod); c.Status != corev1.ConditionTrue {
			t.Errorf("condition PodScheduled of the bound pod %s = %+v, want status True", pod.Name, c)
		}
		for _, entry := range pod.ManagedFields {
			if strings.Contains(string(entry.FieldsV1.GetRawBytes()), "f:nodeName") {
				t.Errorf("spec.nodeName is owned by field manager %s, want none", entry.Manager)
			}
		}
	}
	for name, n := range nodes {
		if n > 2 {
			t.Errorf("node %[1]s: got %[2]d pods, want at most 2", name, n)
		}
	}
	e.pod("large", "2", nil)
	if c := scheduled(e.wait("large", "unschedulable", func(pod *corev1.Pod) bool { return scheduled(pod).Status == corev1.ConditionFalse })); c.Reason != corev1.PodReasonUnschedulable {
		t.Errorf("condition PodScheduled of the large pod = %+[2]v, want reason %[1]s", corev1.PodReasonUnschedulable, c)
	}
	e.pod("fast", "50m", func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "fast"} })
	if node := e.wait("fast", "bound", isBound).Spec.NodeName; node != "node-0" {
		t.Errorf("pod with a node selector is bound to %s, want node-0", node)
	}
	// The scheduler does not bind a pod with a scheduling gate until the gate is removed.
	e.pod("gated", "50m", func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	})
	e.pod("after", "50m", nil)
	e.wait("after", "bound", isBound)
	gated := e.wait("gated", "gated", func(pod *corev1.Pod) bool { return scheduled(pod).Reason == corev1.PodReasonSchedulingGated })
	if isBound(gated) {
		t.Errorf("gated pod is bound to node %s, want none", gated.Spec.NodeName)
	}
	gated.Spec.SchedulingGates = nil
	_, err := e.client.CoreV1().Pods(e.namespace).Update(t.Context(), gated, metav1.UpdateOptions{})
	e.check(err)
	e.wait("gated", "bound", isBound)
	// The large pod fits on the node that is added now.
	e.node("node-big", nil)
	ctx, nodesClient := t.Context(), e.client.CoreV1().Nodes()
	big, err := nodesClient.Get(ctx, "node-big", metav1.GetOptions{})
	e.check(err)
	big.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("4")
	_, err = nodesClient.UpdateStatus(ctx, big, metav1.UpdateOptions{})
	e.check(err)
	if node := e.wait("large", "bound", isBound).Spec.NodeName; node != "node-big" {
		t.Errorf("large pod is bound to %s, want node-big", node)
	}
}
