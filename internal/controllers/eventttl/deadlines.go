package eventttl

import (
	"container/heap"
	"strings"
	"time"

	"github.com/cadastre/cadastre/internal/watchcache"
)

// deadline is when the event at a key is looked at.
type deadline struct {
	at  int64 // in seconds, as the times in objects are
	key string
}

// deadlines is a heap: the next comes first. An event that was written again stays where it was, and is put
// back when its turn comes; one that was deleted is dropped then. So nothing has to be found in it, and it has
// at most as many as were created within the life of an event.
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

// due takes out at most so many that are due at a time.
func (d *deadlines) due(now int64, most int) (keys []string) {
	for len(*d) > 0 && (*d)[0].at <= now && len(keys) < most {
		keys = append(keys, heap.Pop(d).(deadline).key)
	}
	return keys
}

// writtenAt is when an event was last written; zero if it does not say.
//
// In canonical JSON quotes within strings have a backslash before them, so that what is looked for is not
// found in a text.
func writtenAt(event *watchcache.Object) time.Time {
	_, after, _ := strings.Cut(event.Text(), `"creationTimestamp":"`)
	latest, _, _ := strings.Cut(after, `"`)
	for rest := event.Spans().ManagedFields; ; {
		var isThere bool
		if _, rest, isThere = strings.Cut(rest, `"time":"`); !isThere {
			break
		}
		at, _, _ := strings.Cut(rest, `"`)
		latest = max(latest, at) // they are all in UTC and in one form
	}
	t, err := time.Parse(time.RFC3339, latest)
	if err != nil {
		return time.Time{}
	}
	return t
}
