package metrics

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Labels of the metrics of priority and fairness.
var (
	levelLabels = []string{"priority_level"}
	flowLabels  = []string{"priority_level", "flow_schema"}
)

// Upper bounds of the buckets of priority and fairness.
var (
	flowDurationBuckets = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}
	queueLengthBuckets  = []float64{0, 10, 25, 50, 100, 250, 500, 1000}
	watchCountBuckets   = []float64{0, 1, 10, 100, 1000, 10000}
	seatBuckets         = []float64{1, 2, 4, 8, 16, 32, 64, 100}

	SeatUtilizationBounds    = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}
	RequestUtilizationBounds = []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1}
	DemandBounds             = []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6}
)

// flowFamilies are the metrics of priority and fairness that are not collected on scrape.
type flowFamilies struct {
	rejected, dispatched, noAccommodation            *prometheus.CounterVec
	waits, executions, queueLengths, watchers, seats *prometheus.HistogramVec
}

func newFlowFamilies(r *registrar) flowFamilies {
	const prefix = "apiserver_flowcontrol_"
	return flowFamilies{
		rejected: r.counters(prefix+"rejected_requests_total",
			"Requests that priority and fairness has rejected, by reason.", []string{"priority_level", "flow_schema", "reason"}),
		dispatched: r.counters(prefix+"dispatched_requests_total",
			"Requests that priority and fairness has admitted.", flowLabels),
		noAccommodation: r.counters(prefix+"request_dispatch_no_accommodation_total",
			"Attempts to dispatch a request that needs more seats than are free.", flowLabels),
		waits: r.histograms(prefix+"request_wait_duration_seconds",
			"Time that requests waited in a queue.", []string{"priority_level", "flow_schema", "execute"}, flowDurationBuckets),
		executions: r.histograms(prefix+"request_execution_seconds",
			"Duration of requests, of watches until they are initialized, without the wait in a queue.", []string{"priority_level", "flow_schema", "type"}, flowDurationBuckets),
		queueLengths: r.histograms(prefix+"request_queue_length_after_enqueue",
			"Length of its queue after a request was added.", flowLabels, queueLengthBuckets),
		watchers: r.histograms(prefix+"watch_count_samples",
			"Number of watches that a write concerns.", flowLabels, watchCountBuckets),
		seats: r.histograms(prefix+"work_estimated_seats",
			"Number of seats of requests.", flowLabels, seatBuckets),
	}
}

// FlowControl records the metrics of priority and fairness. It is safe for concurrent use.
type FlowControl struct {
	metrics *Metrics

	mu    sync.Mutex
	kinds [2]kindUsage // mutating, read-only
	seats int          // the number of seats of the server
}

// kindUsage holds the numbers of executing and waiting requests of one request_kind, and histograms of their utilization.
type kindUsage struct {
	executing, waiting         int
	executingUsed, waitingUsed TimedHistogram
	updated                    time.Time
}

func newFlowControl(m *Metrics) *FlowControl {
	f := &FlowControl{metrics: m}
	for i := range f.kinds {
		k := &f.kinds[i]
		k.updated = time.Now()
		k.executingUsed.Bounds, k.waitingUsed.Bounds = readWriteBounds, readWriteBounds
	}
	return f
}

var readWriteBounds = []float64{0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}

// Executing adds change to the number of requests that execute.
func (f *FlowControl) Executing(readOnly bool, change int) {
	f.change(readOnly, change, 0)
	at := f.metrics.Mutating
	if readOnly {
		at = f.metrics.ReadOnly
	}
	at.Add(change)
}

// Waiting adds change to the number of requests that wait in queues.
func (f *FlowControl) Waiting(readOnly bool, change int) {
	f.change(readOnly, 0, change)
	at := f.metrics.MutatingInQueue
	if readOnly {
		at = f.metrics.ReadOnlyInQueue
	}
	at.Add(change)
}

func (f *FlowControl) change(readOnly bool, executing, waiting int) {
	i := 0
	if readOnly {
		i = 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k := &f.kinds[i]
	k.advance(f.seats)
	k.executing += executing
	k.waiting += waiting
}

func (k *kindUsage) advance(seats int) {
	now := time.Now()
	elapsed := now.Sub(k.updated).Seconds()
	k.updated = now
	k.executingUsed.Observe(elapsed, float64(k.executing)/float64(max(1, seats)))
	k.waitingUsed.Observe(elapsed, float64(k.waiting)/float64(max(1, seats)))
}

// Flow records the metrics of the requests of a FlowSchema in a level. It is safe for concurrent use. Its series are created by
// the first request.
type Flow struct {
	level, schema string
	families      *flowFamilies
	once          sync.Once
	series        flowSeries
}

// flowSeries are the series that most requests use.
type flowSeries struct {
	dispatched                                  prometheus.Counter
	waitTime, executionTime, queueLength, seats prometheus.Observer
}

// Flow returns the metrics of the requests of a FlowSchema in a level.
func (f *FlowControl) Flow(level, schema string) *Flow {
	return &Flow{level: level, schema: schema, families: &f.metrics.families.flows}
}

// get returns the series.
func (f *Flow) get() *flowSeries {
	f.once.Do(func() {
		all := f.families
		f.series = flowSeries{
			dispatched: all.dispatched.WithLabelValues(f.level, f.schema), waitTime: all.waits.WithLabelValues(f.level, f.schema, "true"),
			executionTime: all.executions.WithLabelValues(f.level, f.schema, "regular"), queueLength: all.queueLengths.WithLabelValues(f.level, f.schema),
			seats: all.seats.WithLabelValues(f.level, f.schema),
		}
	})
	return &f.series
}

// Dispatched counts a request that was admitted.
func (f *Flow) Dispatched() { f.get().dispatched.Inc() }

// Rejected counts a request that was rejected.
func (f *Flow) Rejected(reason string) {
	f.families.rejected.WithLabelValues(f.level, f.schema, reason).Inc()
}

// NoAccommodation counts a failed attempt to dispatch a request.
func (f *Flow) NoAccommodation() { f.families.noAccommodation.WithLabelValues(f.level, f.schema).Inc() }

// Waited records the wait of a request until it was executed or, if executed is false, rejected.
func (f *Flow) Waited(executed bool, took time.Duration) {
	if executed {
		f.get().waitTime.Observe(took.Seconds())
		return
	}
	f.families.waits.WithLabelValues(f.level, f.schema, strconv.FormatBool(executed)).Observe(took.Seconds())
}

// Executed records the duration of a request, or of the initialization of a watch.
func (f *Flow) Executed(isWatch bool, took time.Duration) {
	if isWatch {
		f.families.executions.WithLabelValues(f.level, f.schema, "watch").Observe(took.Seconds())
		return
	}
	f.get().executionTime.Observe(took.Seconds())
}

// QueueLength records the length of a queue after a request was added.
func (f *Flow) QueueLength(n int) { f.get().queueLength.Observe(float64(n)) }

// Watches records the number of watches that a write concerns.
func (f *Flow) Watches(n int) {
	f.families.watchers.WithLabelValues(f.level, f.schema).Observe(float64(n))
}

// Seats records the number of seats of a request.
func (f *Flow) Seats(n int) { f.get().seats.Observe(float64(n)) }

// Forget removes the series of a level that does not exist any more.
func (f *FlowControl) Forget(level string) {
	all, labels := &f.metrics.families.flows, prometheus.Labels{"priority_level": level}
	for _, c := range []*prometheus.CounterVec{all.rejected, all.dispatched, all.noAccommodation} {
		c.DeletePartialMatch(labels)
	}
	for _, h := range []*prometheus.HistogramVec{all.waits, all.executions, all.queueLengths, all.watchers, all.seats} {
		h.DeletePartialMatch(labels)
	}
}

// TimedHistogram is a histogram of a value over time: each nanosecond counts as one observation. It is not safe for concurrent
// use.
type TimedHistogram struct {
	Bounds []float64
	counts [16]uint64 // nanoseconds by bucket, not cumulative; the last one is for values above all bounds
	sum    float64
}

// Observe records that the value was constant for the given number of seconds.
func (h *TimedHistogram) Observe(elapsed, value float64) {
	ns := elapsed * 1e9
	i := 0
	for i < len(h.Bounds) && value > h.Bounds[i] {
		i++
	}
	h.counts[i] += uint64(ns)
	h.sum += ns * value
}

// Clone returns a copy of the histogram.
func (h *TimedHistogram) Clone() TimedHistogram { return *h }

// metric returns the histogram as a metric.
func (h *TimedHistogram) metric(description *prometheus.Desc, labels ...string) prometheus.Metric {
	total, cumulative := uint64(0), make(map[float64]uint64, len(h.Bounds))
	for i, bound := range h.Bounds {
		total += h.counts[i]
		cumulative[bound] = total
	}
	return prometheus.MustNewConstHistogram(description, total+h.counts[len(h.Bounds)], h.sum, cumulative, labels...)
}

// FlowSnapshot is the state of priority and fairness on a scrape.
type FlowSnapshot struct {
	FairFraction float64
	Levels       []FlowLevel
}

// FlowLevel is the state of a priority level.
type FlowLevel struct {
	Name                                       string
	Nominal, Lower, Upper, Limit               int
	CurrentR, DispatchR, LatestS               float64
	NextS, NextDiscountedS                     [2]float64 // minimum and maximum
	Peak, Average, Deviation, Smoothed, Target float64
	Seats, Waiting, Executing, Demand          TimedHistogram
	Flows                                      []FlowState
}

// FlowState is the state of a FlowSchema in a level.
type FlowState struct {
	Schema                                                           string
	WaitingRequests, WaitingSeats, ExecutingRequests, ExecutingSeats int
}

// Collect adds the metrics of priority and fairness that are collected on scrape. It must be called at most once.
func (f *FlowControl) Collect(snapshot func() FlowSnapshot) {
	f.metrics.registry.MustRegister(&flowCollector{f, snapshot})
}

// flowCollector is a Prometheus collector of the state of priority and fairness.
type flowCollector struct {
	control  *FlowControl
	snapshot func() FlowSnapshot
}

// flowGauges lists the gauges of levels.
var flowGauges = []struct {
	name, help string
	value      func(l *FlowLevel) float64
}{
	{"current_r", "Virtual time.", func(l *FlowLevel) float64 { return l.CurrentR }},
	{"dispatch_r", "Virtual time of the last dispatch from a queue.", func(l *FlowLevel) float64 { return l.DispatchR }},
	{"latest_s", "Virtual start of the request that was last dispatched from a queue.", func(l *FlowLevel) float64 { return l.LatestS }},
	{"nominal_limit_seats", "Nominal number of seats.", func(l *FlowLevel) float64 { return float64(l.Nominal) }},
	{"lower_limit_seats", "Number of seats that are not lent.", func(l *FlowLevel) float64 { return float64(l.Lower) }},
	{"upper_limit_seats", "Maximum number of seats with those borrowed.", func(l *FlowLevel) float64 { return float64(l.Upper) }},
	{"current_limit_seats", "Number of seats at present.", func(l *FlowLevel) float64 { return float64(l.Limit) }},
	{"demand_seats_high_watermark", "Maximum demand of seats in the last period of adjustment.", func(l *FlowLevel) float64 { return l.Peak }},
	{"demand_seats_average", "Average demand of seats in the last period of adjustment.", func(l *FlowLevel) float64 { return l.Average }},
	{"demand_seats_stdev", "Standard deviation of the demand of seats in the last period of adjustment.", func(l *FlowLevel) float64 { return l.Deviation }},
	{"demand_seats_smoothed", "Smoothed demand of seats.", func(l *FlowLevel) float64 { return l.Smoothed }},
	{"target_seats", "Number of seats that the adjustment aims at.", func(l *FlowLevel) float64 { return l.Target }},
}

// flowStateGauges lists the gauges of FlowSchemas in levels.
var flowStateGauges = []struct {
	name, help string
	value      func(f *FlowState) int
}{
	{"current_inqueue_requests", "Number of requests in queues.", func(f *FlowState) int { return f.WaitingRequests }},
	{"current_inqueue_seats", "Number of seats of the requests in queues.", func(f *FlowState) int { return f.WaitingSeats }},
	{"current_executing_requests", "Number of requests that execute.", func(f *FlowState) int { return f.ExecutingRequests }},
	{"current_executing_seats", "Number of seats in use.", func(f *FlowState) int { return f.ExecutingSeats }},
}

// describeFlow returns the description of a metric of priority and fairness.
func describeFlow(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("apiserver_flowcontrol_"+name, help, labels, nil)
}

// Descriptions of the metrics that are neither in flowGauges nor in flowStateGauges.
var (
	fairFractionDescription    = describeFlow("seat_fair_frac", "Ratio of limit and target of the levels that reach neither of their bounds.")
	nextSDescription           = describeFlow("next_s_bounds", "Minimum and maximum virtual start of the first requests of all queues.", "priority_level", "bound")
	nextDiscountedSDescription = describeFlow("next_discounted_s_bounds", "Minimum and maximum virtual start of the first requests of all queues, less the work in progress.", "priority_level", "bound")
	demandDescription          = describeFlow("demand_seats", "Demand of seats divided by the limit, each nanosecond.", levelLabels...)
	readWriteDescription       = describeFlow("read_vs_write_current_requests", "Number of requests divided by the number of seats, each nanosecond.", "phase", "request_kind")
	utilizationDescription     = describeFlow("priority_level_request_utilization", "Number of requests divided by their limit, each nanosecond.", "phase", "priority_level")
	seatUtilizationDescription = prometheus.NewDesc("apiserver_flowcontrol_priority_level_seat_utilization",
		"Seats in use divided by the limit, each nanosecond.", levelLabels, prometheus.Labels{"phase": "executing"})
)

// Describe implements prometheus.Collector. Without descriptions the collector is unchecked, because its metrics depend on the
// levels.
func (*flowCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *flowCollector) Collect(out chan<- prometheus.Metric) {
	s := c.snapshot()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	seats := 0
	for i := range s.Levels {
		l := &s.Levels[i]
		seats += l.Nominal
		for _, g := range flowGauges {
			gauge(describeFlow(g.name, g.help, levelLabels...), g.value(l), l.Name)
		}
		for j, bound := range []string{"min", "max"} {
			gauge(nextSDescription, l.NextS[j], l.Name, bound)
			gauge(nextDiscountedSDescription, l.NextDiscountedS[j], l.Name, bound)
		}
		for _, g := range flowStateGauges {
			d := describeFlow(g.name, g.help, flowLabels...)
			for j := range l.Flows {
				gauge(d, float64(g.value(&l.Flows[j])), l.Name, l.Flows[j].Schema)
			}
		}
		out <- l.Seats.metric(seatUtilizationDescription, l.Name)
		out <- l.Waiting.metric(utilizationDescription, "waiting", l.Name)
		out <- l.Executing.metric(utilizationDescription, "executing", l.Name)
		out <- l.Demand.metric(demandDescription, l.Name)
	}
	gauge(fairFractionDescription, s.FairFraction)
	for _, m := range c.control.usage(seats) {
		out <- m
	}
}

// usage returns the histograms of requests by request_kind. seats is the number of seats of the server.
func (f *FlowControl) usage(seats int) (all []prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seats = seats
	for i, kind := range []string{"mutating", "readOnly"} {
		k := &f.kinds[i]
		k.advance(f.seats)
		all = slices.Concat(all, []prometheus.Metric{
			k.executingUsed.metric(readWriteDescription, "executing", kind), k.waitingUsed.metric(readWriteDescription, "waiting", kind),
		})
	}
	return all
}
