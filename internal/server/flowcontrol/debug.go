package flowcontrol

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// DebugPath is the prefix of the paths of the debug tables.
const DebugPath = "/debug/api_priority_and_fairness/"

// dumps lists the debug tables by the last segment of their paths.
var dumps = map[string]func(*Controller, *table, *http.Request){
	"dump_priority_levels": (*Controller).dumpLevels,
	"dump_queues":          (*Controller).dumpQueues,
	"dump_requests":        (*Controller).dumpRequests,
}

// ServeDebug serves a table of levels, queues or requests. It returns false if the path is not that of a table. Names, columns and
// format are those of kube-apiserver.
func (c *Controller) ServeDebug(w http.ResponseWriter, r *http.Request) bool {
	name, ok := strings.CutPrefix(r.URL.Path, DebugPath)
	dump := dumps[name]
	if !ok || dump == nil || c.active.Load() == nil {
		return false
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t := newTable(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	dump(c, t, r)
	_ = t.Flush() // an error means that the client has disconnected
	return true
}

// table writes rows with aligned columns.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) *table { return &table{tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)} }

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = fmt.Sprint(cell)
	}
	fmt.Fprintln(t, strings.Join(texts, ",\t"))
}

func (c *Controller) dumpLevels(t *table, _ *http.Request) {
	t.row("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
		"DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
	for _, l := range c.sortedLevels() {
		l.lock()
		nonEmpty := 0
		for _, q := range l.queues {
			if q.waiting.length > 0 {
				nonEmpty++
			}
		}
		t.row(l.name, nonEmpty, l.waiting == 0 && l.executing == 0, l.isQuiescing, l.waiting, l.executing,
			l.counts.dispatched, l.counts.rejected, l.counts.timedOut, l.counts.cancelled)
		l.mu.Unlock()
	}
}

func (c *Controller) dumpQueues(t *table, _ *http.Request) {
	t.row("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum")
	for _, l := range c.sortedLevels() {
		l.lock()
		for i, q := range l.queues {
			initial := 0
			for ticket := q.waiting.first; ticket != nil; ticket = ticket.next {
				initial += ticket.work.initial
			}
			t.row(l.name, i, q.waiting.length, q.executing.length, q.seatsInUse, seatSeconds(q.nextStart), initial, q.waitingSeats, seatSeconds(q.waitingWork))
		}
		l.mu.Unlock()
	}
}

func seatSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 8, 64) + "ss" }

func (c *Controller) dumpRequests(t *table, r *http.Request) {
	withDetails := r.URL.Query().Get("includeRequestDetails") != ""
	header := []any{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}
	if withDetails {
		header = append(header, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
	}
	t.row(header...)
	for _, l := range c.sortedLevels() {
		l.lock()
		for i, q := range l.queues {
			t.requests(l, i, &q.waiting, withDetails)
			t.requests(l, i, &q.executing, withDetails)
		}
		t.requests(l, -1, &l.direct.executing, withDetails)
		l.mu.Unlock()
	}
}

// requests writes a row for each ticket in a list. The index of an executing request is -1. The caller holds the lock of the level.
func (t *table) requests(l *level, queue int, list *tickets, withDetails bool) {
	index := 0
	for ticket := list.first; ticket != nil; ticket = ticket.next {
		at, started := index, ""
		if ticket.state == executing {
			at, started = -1, stamp(ticket.started)
		} else {
			started = stamp(time.Time{})
		}
		r := ticket.request
		row := []any{
			l.name, ticket.schema.name, queue, at, r.distinguisher(ticket.schema.method), stamp(ticket.arrived),
			ticket.work.initial, ticket.work.final, ticket.work.latency, started,
		}
		if withDetails {
			version := r.Version
			if r.Group != "" {
				version = r.Group + "/" + r.Version
			}
			row = append(row, r.User.GetName(), r.Verb, r.Path, r.Namespace, r.Name, version, r.Resource, r.Subresource)
		}
		t.row(row...)
		index++
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
