package encoding

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WatchEncoder encodes the events of one watch, each in its own frame. It is not safe for concurrent use.
type WatchEncoder struct{ view View }

// NewWatchEncoder returns an encoder for a watch in a view.
func NewWatchEncoder(v View) (*WatchEncoder, error) {
	if err := v.FitsObject(); err != nil {
		return nil, err
	}
	v.Pretty = false
	return &WatchEncoder{view: v}, nil
}

// View returns the view of the events. Its Now may be changed between events.
func (w *WatchEncoder) View() *View { return &w.view }

// Append appends an event: its type, such as ADDED, and its object.
func (w *WatchEncoder) Append(dst []byte, eventType string, o Object) ([]byte, error) {
	dst, err := w.view.encoding().AppendEvent(dst, w.view, eventType, o)
	w.view.NoHeaders = true
	return dst, err
}

// Bookmark is the object of a BOOKMARK event, which has a resourceVersion only.
type Bookmark struct {
	// Kind and APIVersion are the type of the watched objects.
	Kind, APIVersion string
	ResourceVersion  int64
	// InitialEnd marks the end of the initial events.
	InitialEnd bool
}

// AppendBookmark appends a bookmark.
func (w *WatchEncoder) AppendBookmark(dst []byte, b Bookmark) ([]byte, error) {
	return w.Append(dst, "BOOKMARK", b)
}

// AppendJSON appends the object.
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

// JSONSize returns the approximate size of the object.
func (b Bookmark) JSONSize() int { return 160 + len(b.Kind) + len(b.APIVersion) }

// AppendError appends an ERROR event with the Status of an error, which ends a watch.
func (w *WatchEncoder) AppendError(dst []byte, err error) ([]byte, error) {
	status := StatusOf(err)
	text, err := JSON.AppendTyped(nil, Format{}, &status)
	if err != nil {
		return dst, err
	}
	e := w.view.encoding()
	return e.AppendEvent(dst, View{Format: Format{Encoding: e}}, "ERROR", Text(text[:len(text)-1]))
}
