package eventttl

import (
	"container/heap"
	"strings"
	"time"

	"github.com/cadastre/cadastre/internal/watchcache"
)

// deadline is the time at which an event is checked for expiry.
type deadline struct {
	at  int64  // Unix time in seconds, the resolution of metav1.Time
	key string // watch cache key of the event
}

// deadlines is a heap with the earliest deadline first. An update or deletion of an event does not change the heap: when a
// deadline is due, it is added again if the event was updated after the deadline was set, and dropped if the event was
// deleted. Therefore the heap is never searched, and contains at most one deadline per event.
type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at < d[j].at }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(deadline)) }

func (d *deadlines) Pop() any {
	last := len(*d) - 1
	popped := (*d)[last]
	(*d)[last] = deadline{}
	*d = (*d)[:last]
	return popped
}

// takeDue removes at most limit deadlines that are not after now, in Unix seconds, earliest first, and returns the keys of
// their events.
func (d *deadlines) takeDue(now int64, limit int) (keys []string) {
	for len(*d) > 0 && (*d)[0].at <= now && len(keys) < limit {
		keys = append(keys, heap.Pop(d).(deadline).key)
	}
	return keys
}

// writtenAt returns the time of the last write of an event: the latest of creationTimestamp and the times in managedFields; the
// zero time if the event contains none of them.
//
// It searches the JSON without parsing it: a quote within a string is escaped, so a match is always a member name.
func writtenAt(event *watchcache.Object) time.Time {
	_, after, _ := strings.Cut(event.Text(), `"creationTimestamp":"`)
	latest, _, _ := strings.Cut(after, `"`)
	for rest := event.Spans().ManagedFields; ; {
		var found bool
		if _, rest, found = strings.Cut(rest, `"time":"`); !found {
			break
		}
		at, _, _ := strings.Cut(rest, `"`)
		latest = max(latest, at) // all timestamps are in UTC and in one format, so they can be compared as text
	}
	t, err := time.Parse(time.RFC3339, latest)
	if err != nil {
		return time.Time{}
	}
	return t
}
