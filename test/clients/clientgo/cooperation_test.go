package clientgo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/retry"
)

// TestRetryOnConflict increments a counter with concurrent writers, and checks that no increment is lost.
func TestRetryOnConflict(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 5
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()
	_, err := maps.Create(ctx, configMap("counter", map[string]string{"n": "0"}), metav1.CreateOptions{})
	check(t, err)

	increment := func() error {
		object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(object.Data["n"])
		if err != nil {
			return err
		}
		object.Data["n"] = strconv.Itoa(n + 1)
		_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}
	backoff := wait.Backoff{Steps: 100, Duration: 5 * time.Millisecond, Factor: 1, Jitter: 1}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				if err := retry.RetryOnConflict(backoff, increment); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	check(t, err)
	if want := fmt.Sprint(writers * each); object.Data["n"] != want {
		t.Errorf("counter = %s, want %s", object.Data["n"], want)
	}
}

// TestLeaderElection checks that one candidate acquires a Lease and, after it has released the Lease, the next
// candidate acquires it.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	leaders := make(chan string, 2)

	candidate := func(name string) context.CancelFunc {
		ctx, cancel := context.WithCancel(t.Context())
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          lock,
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders <- name },
				OnStoppedLeading: func() {},
			},
		})
		check(t, err)
		done := make(chan struct{})
		go func() { defer close(done); elector.Run(ctx) }()
		stop := func() { cancel(); <-done }
		t.Cleanup(stop)
		return stop
	}
	stopFirst := candidate("first")
	expectLeader(t, leaders, "first")
	candidate("second")
	stopFirst()
	expectLeader(t, leaders, "second")

	lease, err := client.CoordinationV1().Leases(namespace).Get(t.Context(), "leader", metav1.GetOptions{})
	check(t, err)
	if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		t.Errorf("lease spec = %+v, want holder second after a transition", lease.Spec)
	}
}

func expectLeader(t *testing.T, leaders <-chan string, want string) {
	t.Helper()
	select {
	case got := <-leaders:
		if got != want {
			t.Fatalf("leader = %s, want %s", got, want)
		}
	case <-time.After(timeout):
		t.Fatalf("timed out waiting for %s to lead", want)
	}
}

// TestEventRecorders checks that events that are recorded through v1 and through events.k8s.io/v1 are the same objects.
func TestEventRecorders(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	object, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("subject", nil), metav1.CreateOptions{})
	check(t, err)
	subject, err := reference.GetReference(scheme.Scheme, object)
	check(t, err)

	old := record.NewBroadcaster(record.WithContext(t.Context()))
	t.Cleanup(old.Shutdown)
	old.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "tester"}).
		Event(subject, corev1.EventTypeWarning, "Trouble", "it happens")

	recent := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	t.Cleanup(recent.Shutdown)
	check(t, recent.StartRecordingToSinkWithContext(t.Context()))
	recent.NewRecorder(scheme.Scheme, "example.org/tester").
		Eventf(subject, nil, corev1.EventTypeNormal, "Calm", "Waiting", "it %s", "passes")

	trouble := waitForEvent(t, client, namespace, "involvedObject.name=subject,reason=Trouble,type=Warning")
	if trouble.Message != "it happens" || trouble.Count != 1 || trouble.InvolvedObject.UID != object.UID || trouble.Source.Component != "tester" {
		t.Errorf("event = %+v, want the fields that the recorder of events.k8s.io/v1 sets", trouble)
	}
	calm := waitForEvent(t, client, namespace, "involvedObject.kind=ConfigMap,reason=Calm")
	if calm.Message != "it passes" || calm.Action != "Waiting" || calm.ReportingController != "example.org/tester" || calm.EventTime.IsZero() {
		t.Errorf("event = %+v, want the fields of the events.k8s.io recorder", calm)
	}
	regarding, err := client.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.name=subject"})
	check(t, err)
	if len(regarding.Items) != 2 {
		t.Errorf("List() of events.k8s.io returned %d events, want 2", len(regarding.Items))
	}
}

// waitForEvent waits until exactly one event matches the field selector, and returns that event.
func waitForEvent(t *testing.T, client kubernetes.Interface, namespace, selector string) corev1.Event {
	t.Helper()
	var found *corev1.EventList
	eventually(t, "one event with "+selector, func() bool {
		var err error
		found, err = client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		check(t, err)
		return len(found.Items) == 1
	})
	return found.Items[0]
}
