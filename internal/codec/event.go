package codec

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Events writes the events of one watch, each in a frame of its own. It remembers whether it has
// sent the header of tables, which only the first event has; it is for one goroutine.
type Events struct {
	view View
	told bool // an event has been written
}

// NewEvents returns what writes the events of a watch.
func NewEvents(v View) (*Events, error) {
	if err := v.FitsObject(); err != nil {
		return nil, err
	}
	v.Pretty = false
	return &Events{view: v}, nil
}

// View returns how the events are written; Now may be changed between events.
func (e *Events) View() *View { return &e.view }

// Append appends an event: ADDED, MODIFIED or DELETED, and the object.
func (e *Events) Append(dst []byte, event string, o Object) ([]byte, error) {
	defer func() { e.told = true }()
	if e.view.isPacked() {
		return e.appendPacked(dst, event, o)
	}
	dst = appendFrame(dst, event)
	dst = appendShaped(dst, &e.view, o, e.told)
	return append(dst, "}\n"...), nil
}

// Bookmark is an event that only tells how far a watch has come.
type Bookmark struct {
	// Kind and APIVersion are those of the objects that are watched.
	Kind, APIVersion string
	ResourceVersion  int64
	// InitialEnd marks the end of the initial state.
	InitialEnd bool
}

// AppendBookmark appends a bookmark. It looks like an object that has only metadata.
func (e *Events) AppendBookmark(dst []byte, b Bookmark) ([]byte, error) {
	return e.Append(dst, "BOOKMARK", b)
}

// AppendJSON appends the object that stands for the bookmark.
func (b Bookmark) AppendJSON(dst []byte) []byte {
	dst = appendType(dst, b.Kind, b.APIVersion)
	dst = append(dst, `,"metadata":{"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, b.ResourceVersion, 10)
	dst = append(dst, '"')
	if b.InitialEnd {
		dst = append(dst, `,"annotations":{`...)
		dst = document.AppendString(dst, metav1.InitialEventsAnnotationKey)
		dst = append(dst, `:"true"}`...)
	}
	return append(dst, "}}"...)
}

// JSONSize returns about how long the bookmark is.
func (b Bookmark) JSONSize() int { return 160 + len(b.Kind) + len(b.APIVersion) }

// AppendError appends the event that ends a watch because of an error.
func (e *Events) AppendError(dst []byte, err error) ([]byte, error) {
	status := StatusOf(err)
	e.told = true
	if e.view.isPacked() {
		whole := Events{view: View{Format: Format{Media: e.view.Media}}}
		return whole.appendPacked(dst, "ERROR", Text(appendStatus(nil, &status)))
	}
	dst = appendFrame(dst, "ERROR")
	dst = appendStatus(dst, &status)
	return append(dst, "}\n"...), nil
}

func appendFrame(dst []byte, event string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, event...)
	return append(dst, `","object":`...)
}
