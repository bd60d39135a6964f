package flowcontrol

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/metrics"
)

// testClock is a clock that a test sets.
type testClock struct {
	mu sync.Mutex
	at time.Time
	// isReal makes now return the time of the system.
	isReal bool
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isReal {
		return time.Now()
	}
	return c.at
}

func (c *testClock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// fixture is a Controller with a clock.
type fixture struct {
	t *testing.T
	*Controller
	clock   *testClock
	metrics *metrics.Metrics
}

func newFixture(t *testing.T, seats int) *fixture {
	clock := &testClock{at: time.Unix(1000, 0)}
	counted := metrics.New()
	return &fixture{t, New(Options{Seats: seats, MaxWait: time.Hour, Metrics: counted.FlowControl, now: clock.now}), clock, counted}
}

// tenantLevel is a level that has all seats but those of the mandatory levels, with the given queues.
func tenantLevel(queues, hand, length int32) *flowcontrolv1.PriorityLevelConfiguration {
	l := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tenants", UID: "level-uid"}}
	l.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	l.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: new(int32(1000)), LendablePercent: new(int32(0)), BorrowingLimitPercent: new(int32(0)),
		LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
	}
	if queues > 0 {
		l.Spec.Limited.LimitResponse = flowcontrolv1.LimitResponse{
			Type:    flowcontrolv1.LimitResponseTypeQueue,
			Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: length},
		}
	}
	return l
}

// tenantSchema matches all authenticated users and refers to tenantLevel.
func tenantSchema() *flowcontrolv1.FlowSchema {
	s := fcboot.SuggestedFlowSchemaGlobalDefault.DeepCopy()
	s.Name, s.UID = "tenants", "schema-uid"
	s.Spec.PriorityLevelConfiguration.Name = "tenants"
	return s
}

// useTenants configures tenantLevel as the only priority level and tenantSchema as the only FlowSchema.
func (f *fixture) useTenants(queues, hand, length int32) {
	f.SetObjects([]*flowcontrolv1.FlowSchema{tenantSchema()}, []*flowcontrolv1.PriorityLevelConfiguration{tenantLevel(queues, hand, length)})
}

// get returns a get request of a user.
func get(name string, groups ...string) *Request {
	return &Request{
		User: &user.DefaultInfo{Name: name, Groups: append(groups, user.AllAuthenticated)},
		Verb: "get", Version: "v1", Resource: "configmaps", Namespace: "default", Name: "x", ReadOnly: true,
	}
}

// entry is a request that has called Enter in a goroutine of its own.
type entry struct {
	ticket Ticket
	result chan error
	cancel context.CancelFunc
}

// enter calls Enter in a new goroutine.
func (f *fixture) enter(r *Request) *entry {
	ctx, cancel := context.WithCancel(f.t.Context())
	f.t.Cleanup(cancel)
	e := &entry{result: make(chan error, 1), cancel: cancel}
	go func() { e.result <- f.Enter(ctx, &e.ticket, r) }()
	return e
}

// mustEnter calls Enter and fails the test if the request is rejected.
func (f *fixture) mustEnter(r *Request) *entry {
	f.t.Helper()
	e := f.enter(r)
	if err := <-e.result; err != nil {
		f.t.Fatalf("Enter(%s) = %v, want no error", r.User.GetName(), err)
	}
	return e
}

// enqueue calls Enter and waits until the request is in a queue.
func (f *fixture) enqueue(level string, r *Request) *entry {
	f.t.Helper()
	before := f.state(level).waiting
	e := f.enter(r)
	testwait.For(f.t, "a request to be queued", func() bool { return f.state(level).waiting == before+1 })
	return e
}

// levelState is a copy of the numbers of a level.
type levelState struct{ waiting, executing, seats, limit int }

func (f *fixture) state(level string) levelState {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.levels[level]
	if l == nil {
		return levelState{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return levelState{l.waiting, l.executing, l.seatsInUse, l.limit}
}

// check returns an error if an invariant of the level does not hold.
func (l *level) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, executing, seats, waitingSeats, active := 0, l.direct.executing.length, l.direct.seatsInUse, 0, 0
	for _, q := range l.queues {
		waiting += q.waiting.length
		executing += q.executing.length
		seats += q.seatsInUse
		waitingSeats += q.waitingSeats
		if q.isActive() {
			active++
		}
		if q.seatsInUse < 0 || math.Abs(q.waitingWork) < 0 {
			return fmt.Errorf("a queue has %d seats in use and work %v", q.seatsInUse, q.waitingWork)
		}
	}
	if waiting != l.waiting || executing != l.executing || seats != l.seatsInUse || waitingSeats != l.waitingSeats || active != l.active {
		return fmt.Errorf("sums of the queues: %d waiting, %d executing, %d seats in use, %d waiting, %d active; the level has %d, %d, %d, %d, %d",
			waiting, executing, seats, waitingSeats, active, l.waiting, l.executing, l.seatsInUse, l.waitingSeats, l.active)
	}
	if seats < 0 || seats > l.limit && executing > 1 {
		return fmt.Errorf("%d seats in use by %d requests, want at most %d", seats, executing, l.limit)
	}
	if waiting > 0 && seats == 0 && l.limit > 0 {
		return fmt.Errorf("%d requests wait although all seats are free", waiting)
	}
	return nil
}
