package flowcontrol

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/util/shufflesharding"

	"github.com/cadastre/cadastre/internal/metrics"
)

// Options configure a Controller. Metrics is required.
type Options struct {
	// Seats is the number of seats of the server: the sum of the limits of mutating and other requests.
	Seats int
	// MaxWait is the maximum time that a request waits for its seats.
	MaxWait time.Duration
	Metrics *metrics.FlowControl
	Log     *slog.Logger
	// SetDangling stores in the status of a FlowSchema whether the level to which it refers exists. It may be nil.
	SetDangling func(ctx context.Context, schema, level string, dangling bool) error

	now func() time.Time // time.Now except in tests
}

// Controller admits requests by priority and fairness. Its methods are safe for concurrent use.
type Controller struct {
	Options
	seed    maphash.Seed
	watches watches
	// classify returns the FlowSchema of a request.
	classify func(*Request) *schema
	active   atomic.Pointer[configuration]
	dropped  sync.Map // from the name of a level to *rejections

	mu       sync.Mutex // guards the fields below, and serializes digest
	levels   map[string]*level
	schemas  []*flowcontrolv1.FlowSchema
	settings []*flowcontrolv1.PriorityLevelConfiguration
	fraction float64
	changed  chan struct{} // receives an element when the status of FlowSchemas may be outdated
}

// configuration is an immutable list of FlowSchemas, in the order in which they are matched. The last one is catch-all.
type configuration struct{ schemas []*schema }

// schema is a FlowSchema whose level exists.
type schema struct {
	name   string
	rules  []flowcontrolv1.PolicyRulesWithSubjects
	method *flowcontrolv1.FlowDistinguisherMethod
	level  *level
	flow   *flow
	// exempt, isQueued and maxSeats are those of the level.
	exempt, isQueued bool
	maxSeats         int
	uid, levelUID    []string
}

// New returns a Controller with the mandatory FlowSchemas and levels only. SetObjects adds others.
func New(o Options) *Controller {
	c := newController(o)
	c.classify = c.match
	c.SetObjects(nil, nil)
	c.Metrics.Collect(c.snapshot)
	return c
}

// NewFixed returns a Controller that has a fixed limit of mutating and one of other requests, and no queues. It does not limit
// watches and the group system:masters. kube-apiserver does the same if priority and fairness is disabled.
func NewFixed(o Options, readOnly, mutating int) *Controller {
	c := newController(o)
	schemaOf := func(name string, seats int) *schema {
		l := newLevel(name, c.now, c.Metrics)
		l.config, l.limit, l.nominal = levelConfig{exempt: seats == 0}, seats, seats
		c.levels[name] = l
		return &schema{name: name, level: l, flow: l.flow(name), exempt: seats == 0, maxSeats: 1}
	}
	exempt, reads, writes := schemaOf("exempt", 0), schemaOf("read-only", readOnly), schemaOf("mutating", mutating)
	c.classify = func(r *Request) *schema {
		switch {
		case r.Verb == "watch" || slices.Contains(r.User.GetGroups(), user.SystemPrivilegedGroup):
			return exempt
		case r.ReadOnly:
			return reads
		}
		return writes
	}
	return c
}

func newController(o Options) *Controller {
	o.MaxWait = min(cmp.Or(o.MaxWait, time.Minute), time.Minute)
	if o.now == nil {
		o.now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Controller{Options: o, seed: maphash.MakeSeed(), levels: map[string]*level{}, changed: make(chan struct{}, 1)}
}

// Rejected is the error of a request that is rejected. The client should retry after RetryAfter seconds.
type Rejected struct{ RetryAfter int }

// Error implements error.
func (r *Rejected) Error() string {
	return fmt.Sprintf("too many requests at once; try again in %d s", r.RetryAfter)
}

// Enter waits until the request may execute. The caller must release the ticket. Enter returns a *Rejected if the request is rejected.
// The caller must not modify r before it releases the ticket.
func (c *Controller) Enter(ctx context.Context, t *Ticket, r *Request) error {
	s := c.classify(r)
	l := s.level
	t.level, t.schema, t.flow, t.request = l, s, s.flow, r
	t.work = work{initial: 1}
	if !s.exempt {
		watchers := c.watchers(r)
		t.work = estimate(r, watchers, s.maxSeats)
		if watchers > 0 {
			t.flow.metrics.Watches(watchers)
		}
		t.flow.metrics.Seats(t.work.seats())
	}
	if s.isQueued {
		t.hash = c.hash(s.name, r.distinguisher(s.method))
	}
	dispatched, reason := l.enter(t, t.hash, false)
	if !dispatched && reason == "" && !l.wait(ctx, t, c.MaxWait) {
		reason = "time-out"
	}
	if s.isQueued && reason != "queue-full" {
		t.flow.metrics.Waited(reason == "", t.started.Sub(t.arrived))
	}
	if reason != "" {
		t.flow.metrics.Rejected(reason)
		return &Rejected{c.rejections(l.name).add(c.now().Unix())}
	}
	t.entered = t.started
	t.flow.metrics.Dispatched()
	c.Metrics.Executing(r.ReadOnly, +1)
	return nil
}

// UIDs returns the UIDs of the FlowSchema and of the level of a ticket that was entered, for response headers. The caller must not
// modify them. They are nil if the objects are not stored.
func (t *Ticket) UIDs() (schema, level []string) {
	if t.schema == nil {
		return nil, nil
	}
	return t.schema.uid, t.schema.levelUID
}

// hash returns the hash of a flow. Its seed is random, so that a user cannot choose a name that shares its queues with another user.
func (c *Controller) hash(schema, distinguisher string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(schema)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(distinguisher)
	return h.Sum64()
}

// rejections returns the rejections of a level.
func (c *Controller) rejections(level string) *rejections {
	if r, ok := c.dropped.Load(level); ok {
		return r.(*rejections)
	}
	r, _ := c.dropped.LoadOrStore(level, &rejections{})
	return r.(*rejections)
}

// match returns the first FlowSchema that matches the request, or catch-all if none does.
func (c *Controller) match(r *Request) *schema {
	all := c.active.Load().schemas
	for _, s := range all {
		if r.matches(s.rules) {
			return s
		}
	}
	return all[len(all)-1]
}

// SetObjects replaces the FlowSchemas and PriorityLevelConfigurations. Mandatory objects that are missing are added. Levels
// that are not valid are ignored, and so are FlowSchemas whose level does not exist.
func (c *Controller) SetObjects(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.schemas, c.settings = schemas, levels
	c.digest()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// digest derives the levels and the configuration from the objects. The caller holds the lock.
func (c *Controller) digest() {
	wanted := c.wantedLevels()
	for name, config := range wanted {
		l := c.levels[name]
		if l == nil {
			l = newLevel(name, c.now, c.Metrics)
			c.levels[name] = l
		}
		l.configure(config)
	}
	for name, l := range c.levels {
		if _, ok := wanted[name]; ok {
			continue
		}
		l.lock()
		l.isQuiescing = true
		idle := l.isIdle()
		l.mu.Unlock()
		if idle {
			delete(c.levels, name)
			c.Metrics.Forget(name)
		}
	}
	c.shareSeats()
	c.active.Store(&configuration{c.wantedSchemas(wanted)})
	c.fraction = adjust(c.sortedLevels())
}

// wantedLevels returns the configurations of the levels by name.
func (c *Controller) wantedLevels() map[string]levelConfig {
	wanted := map[string]levelConfig{}
	for _, o := range slices.Concat(fcboot.MandatoryPriorityLevelConfigurations, c.settings) {
		config, err := configOf(o)
		if err != nil {
			c.Log.Warn("ignoring PriorityLevelConfiguration", "name", o.Name, "error", err)
			continue
		}
		wanted[o.Name] = config
	}
	return wanted
}

// configOf returns the configuration of a level, or an error if the object is invalid.
func configOf(o *flowcontrolv1.PriorityLevelConfiguration) (levelConfig, error) {
	config := levelConfig{borrowing: -1}
	if o.UID != "" {
		config.uid = []string{string(o.UID)}
	}
	if config.exempt = o.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt; config.exempt != (o.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt) {
		return config, fmt.Errorf("spec.type: expected Exempt for the level exempt and Limited for other levels, received %q", o.Spec.Type)
	}
	if exempt := o.Spec.Exempt; exempt != nil {
		config.shares, config.lendable = number(exempt.NominalConcurrencyShares, 0), number(exempt.LendablePercent, 0)
	}
	limited := o.Spec.Limited
	if config.exempt || limited == nil {
		if config.exempt && limited == nil {
			return config, nil
		}
		return config, fmt.Errorf("spec.limited: expected a value for type Limited and none for type Exempt")
	}
	config.shares, config.lendable = number(limited.NominalConcurrencyShares, 30), number(limited.LendablePercent, 0)
	config.borrowing = number(limited.BorrowingLimitPercent, -1)
	queuing := limited.LimitResponse.Queuing
	if limited.LimitResponse.Type != flowcontrolv1.LimitResponseTypeQueue {
		return config, nil
	}
	if queuing == nil {
		return config, fmt.Errorf("spec.limited.limitResponse.queuing: required for type Queue")
	}
	config.queues, config.hand, config.queueLength = int(queuing.Queues), int(queuing.HandSize), int(queuing.QueueLengthLimit)
	_, err := shufflesharding.NewDealer(config.queues, config.hand)
	return config, err
}

func number(n *int32, absent int) int {
	if n == nil {
		return absent
	}
	return int(*n)
}

// configure changes the configuration of a level.
func (l *level) configure(config levelConfig) {
	now := l.lock()
	defer l.mu.Unlock()
	l.config, l.isQuiescing, l.dealer = config, false, nil
	if config.queues > 0 {
		l.dealer, _ = shufflesharding.NewDealer(config.queues, config.hand) // configOf has returned its error
	}
	l.resize(config.queues)
	l.dispatch(now)
}

// shareSeats sets the nominal limits of all levels and their bounds. The caller holds the lock.
func (c *Controller) shareSeats() {
	shares := 0
	for _, l := range c.levels {
		shares += l.config.shares
	}
	for _, l := range c.levels {
		l.lock()
		l.nominal = int(math.Ceil(float64(c.Seats) * float64(l.config.shares) / float64(shares)))
		lendable := int(math.Round(float64(l.nominal) * float64(l.config.lendable) / 100))
		l.lower, l.upper = l.nominal-lendable, l.nominal+c.Seats
		if l.config.borrowing >= 0 {
			l.upper = l.nominal + int(math.Round(float64(l.nominal)*float64(l.config.borrowing)/100))
		}
		l.maxSeats = maxWriteSeats
		if l.config.queues > 0 { // a single request must neither fill the level nor the flow's share of it
			l.maxSeats = max(1, min(int(math.Ceil(float64(l.nominal)*0.15)), l.nominal/l.config.hand))
		}
		l.mu.Unlock()
	}
}

// wantedSchemas returns the FlowSchemas whose level is wanted, in the order in which they are matched.
func (c *Controller) wantedSchemas(wanted map[string]levelConfig) []*schema {
	byName := map[string]*flowcontrolv1.FlowSchema{}
	for _, o := range slices.Concat(fcboot.MandatoryFlowSchemas, c.schemas) {
		byName[o.Name] = o
	}
	sorted := slices.SortedFunc(maps.Values(byName), func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
	var all []*schema
	var last *schema
	for _, o := range sorted {
		if _, ok := wanted[o.Spec.PriorityLevelConfiguration.Name]; !ok {
			continue
		}
		l := c.levels[o.Spec.PriorityLevelConfiguration.Name]
		l.lock()
		s := &schema{
			name: o.Name, rules: o.Spec.Rules, method: o.Spec.DistinguisherMethod, level: l, flow: l.flow(o.Name),
			exempt: l.config.exempt, isQueued: l.dealer != nil, maxSeats: l.maxSeats, levelUID: l.config.uid,
		}
		l.mu.Unlock()
		if o.UID != "" {
			s.uid = []string{string(o.UID)}
		}
		if o.Name == flowcontrolv1.FlowSchemaNameCatchAll {
			last = s
			continue
		}
		all = append(all, s)
	}
	return append(all, last)
}

// sortedLevels returns all levels by name. The caller holds the lock.
func (c *Controller) sortedLevels() []*level {
	return slices.SortedFunc(maps.Values(c.levels), func(a, b *level) int { return cmp.Compare(a.name, b.name) })
}

// Run adjusts the limits periodically, and stores the status of FlowSchemas, until the context ends.
func (c *Controller) Run(ctx context.Context) {
	ticker := time.NewTicker(adjustPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
			c.setStatus(ctx)
		case <-ticker.C:
			c.adjust()
		}
	}
}

// adjust adjusts the limits, and removes levels that have become idle after their deletion.
func (c *Controller) adjust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.levels {
		if l.isQuiescing {
			c.digest()
			return
		}
	}
	c.fraction = adjust(c.sortedLevels())
}

// setStatus stores the condition Dangling of the FlowSchemas whose stored condition is wrong.
func (c *Controller) setStatus(ctx context.Context) {
	if c.SetDangling == nil {
		return
	}
	c.mu.Lock()
	schemas, wanted := c.schemas, c.wantedLevels()
	c.mu.Unlock()
	for _, s := range schemas {
		level := s.Spec.PriorityLevelConfiguration.Name
		_, exists := wanted[level]
		if hasCondition(s, DanglingCondition(level, !exists)) {
			continue
		}
		if err := c.SetDangling(ctx, s.Name, level, !exists); err != nil && ctx.Err() == nil {
			c.Log.Warn("storing the status of a FlowSchema failed", "name", s.Name, "error", err)
		}
	}
}

// DanglingCondition returns the condition of a FlowSchema that refers to a level, without its time.
func DanglingCondition(level string, dangling bool) flowcontrolv1.FlowSchemaCondition {
	condition := flowcontrolv1.FlowSchemaCondition{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, Reason: "Found",
		Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level),
	}
	if dangling {
		condition.Status, condition.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		condition.Message = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)
	}
	return condition
}

func hasCondition(s *flowcontrolv1.FlowSchema, wanted flowcontrolv1.FlowSchemaCondition) bool {
	return slices.ContainsFunc(s.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) bool {
		return c.Type == wanted.Type && c.Status == wanted.Status && c.Reason == wanted.Reason && c.Message == wanted.Message
	})
}
