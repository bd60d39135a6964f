package encoding

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
)

// podState is the state of a pod's containers, from which several cells of its row are computed.
type podState struct {
	ready, containers int
	status            string
	restarts          int64
	lastRestart       time.Time
}

// podState returns the state of the row's pod, which is computed on the first call.
func (r *row) podState() *podState {
	if r.pod == nil {
		r.pod = readPod(r)
	}
	return r.pod
}

// readPod computes the state of a pod. Its status is determined by the first unfinished init container or, if there is none,
// by the first container.
func readPod(r *row) *podState {
	spec, status := r.get("spec"), r.get("status")
	s := &podState{containers: itemCount(spec.Get("containers"))}
	for _, c := range itemsOf(spec.Get("initContainers")) {
		if isSidecar(c) {
			s.containers++
		}
	}
	phase := text(status.Get("phase"))
	s.status = nonemptyText(status.Get("reason"), phase)
	for _, condition := range itemsOf(status.Get("conditions")) {
		if text(condition.Get("type")) == "PodScheduled" && text(condition.Get("reason")) == "SchedulingGated" {
			s.status = "SchedulingGated"
		}
	}
	sidecars := podState{}
	initializing := s.readInit(spec, status, &sidecars)
	if !initializing || conditionTrue(status.Get("conditions"), "Initialized") {
		s.restarts, s.lastRestart = sidecars.restarts, sidecars.lastRestart
		s.readContainers(status)
	}
	switch {
	case !r.deleted():
	case text(status.Get("reason")) == "NodeLost":
		s.status = "Unknown"
	case phase != "Failed" && phase != "Succeeded":
		s.status = "Terminating"
	}
	return s
}

// readInit visits the init containers until it finds an unfinished init container, and reports whether it found one. It counts
// sidecar containers in the argument sidecars as well.
func (s *podState) readInit(spec, status document.Value, sidecars *podState) (initializing bool) {
	declared := spec.Get("initContainers")
	for i, c := range itemsOf(status.Get("initContainerStatuses")) {
		sidecar := isSidecar(lastWith(declared, "name", text(c.Get("name"))))
		s.countRestarts(c)
		if sidecar {
			sidecars.countRestarts(c)
		}
		terminated := c.Lookup("state", "terminated")
		waiting := text(c.Lookup("state", "waiting", "reason"))
		switch {
		case terminated.Kind() == document.Map && integer(terminated.Get("exitCode")) == 0:
			continue
		case sidecar && c.Get("started").Bool():
			if c.Get("ready").Bool() {
				s.ready++
			}
			continue
		case terminated.Kind() == document.Map:
			s.status = "Init:" + terminationReason(terminated)
		case waiting != "" && waiting != "PodInitializing":
			s.status = "Init:" + waiting
		default:
			s.status = "Init:" + ratio(i, itemCount(declared))
		}
		return true
	}
	return false
}

// readContainers visits the containers in reverse order, so that the first container determines the status.
func (s *podState) readContainers(status document.Value) {
	running, failure := false, ""
	list := itemsOf(status.Get("containerStatuses"))
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		s.countRestarts(c)
		terminated := c.Lookup("state", "terminated")
		waiting := text(c.Lookup("state", "waiting", "reason"))
		switch {
		case waiting != "":
			s.status = waiting
		case terminated.Kind() == document.Map:
			s.status = terminationReason(terminated)
			if integer(terminated.Get("exitCode")) != 0 {
				failure = s.status
			}
		case c.Get("ready").Bool() && c.Lookup("state", "running").Kind() == document.Map:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	// The status says that a container has completed, but other containers may be running or have failed.
	switch {
	case running && anyConditionTrue(status.Get("conditions"), "Ready"):
		s.status = "Running"
	case failure != "":
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}

// countRestarts adds the restarts of a container to those of the pod, and updates the time of the last restart.
func (s *podState) countRestarts(c document.Value) {
	s.restarts += integer(c.Get("restartCount"))
	if ended := timeOf(c.Lookup("lastState", "terminated", "finishedAt")); s.lastRestart.Before(ended) {
		s.lastRestart = ended
	}
}

// terminationReason returns the reason in terminated, the state of a container or, if it has no reason, the signal or exit
// code.
func terminationReason(terminated document.Value) string {
	if reason := text(terminated.Get("reason")); reason != "" {
		return reason
	}
	if signal := integer(terminated.Get("signal")); signal != 0 {
		return "Signal:" + strconv.FormatInt(signal, 10)
	}
	return "ExitCode:" + strconv.FormatInt(integer(terminated.Get("exitCode")), 10)
}

// isSidecar reports whether an init container is a sidecar, which keeps running because its restartPolicy is Always.
func isSidecar(container document.Value) bool {
	return text(container.Get("restartPolicy")) == "Always"
}

func podRestarts(r *row) string {
	s := r.podState()
	count := strconv.FormatInt(s.restarts, 10)
	if s.restarts == 0 || s.lastRestart.IsZero() {
		return count
	}
	return count + " (" + duration.HumanDuration(r.now.Sub(s.lastRestart)) + " ago)"
}

// podIP returns the first IP address of a pod. The field podIP takes precedence over podIPs, because older clients set only
// podIP.
func podIP(r *row) string {
	status := r.get("status")
	first := ""
	if ips := itemsOf(status.Get("podIPs")); len(ips) > 0 {
		first = text(ips[0].Get("ip"))
	}
	if ip := nonemptyText(status.Get("podIP"), first); ip != "" {
		return ip
	}
	return none
}

func podGates(r *row) string {
	gates := itemsOf(r.get("spec", "readinessGates"))
	if len(gates) == 0 {
		return none
	}
	passed := 0
	for _, gate := range gates {
		if conditionTrue(r.get("status", "conditions"), text(gate.Get("conditionType"))) {
			passed++
		}
	}
	return ratio(passed, len(gates))
}
