package encoding

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WatchEncoder encodes the events of one watch, each with its framing. It is not safe for concurrent use.
type WatchEncoder struct{ view View }

// NewWatchEncoder returns an encoder for a watch with the view v. It returns an error with status 406 if the format supports
// only lists.
func NewWatchEncoder(v View) (*WatchEncoder, error) {
	if err := v.FitsObject(); err != nil {
		return nil, err
	}
	v.Pretty = false
	return &WatchEncoder{view: v}, nil
}

// View returns the view of the events. The caller may change its Now between events.
func (w *WatchEncoder) View() *View { return &w.view }

// Append appends an event with the given type, such as ADDED, and the object o.
func (w *WatchEncoder) Append(dst []byte, eventType string, o Object) ([]byte, error) {
	dst, err := w.view.encoding().AppendEvent(dst, w.view, eventType, o)
	w.view.NoHeaders = true
	return dst, err
}

// Bookmark is the object of a BOOKMARK event; its metadata contains only the resourceVersion and, if InitialEnd is set, the
// annotation k8s.io/initial-events-end.
type Bookmark struct {
	// Kind and APIVersion are the type of the watched objects.
	Kind, APIVersion string
	ResourceVersion  int64
	// InitialEnd marks the bookmark that ends the initial events.
	InitialEnd bool
}

// AppendBookmark appends a BOOKMARK event.
func (w *WatchEncoder) AppendBookmark(dst []byte, b Bookmark) ([]byte, error) {
	return w.Append(dst, "BOOKMARK", b)
}

// AppendJSON implements Object.
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

// JSONSize implements Object.
func (b Bookmark) JSONSize() int { return 160 + len(b.Kind) + len(b.APIVersion) }

// AppendError appends an ERROR event with the Status of an error. It is the last event of a watch.
func (w *WatchEncoder) AppendError(dst []byte, err error) ([]byte, error) {
	status := StatusOf(err)
	text, err := JSON.AppendTyped(nil, Format{}, &status)
	if err != nil {
		return dst, err
	}
	e := w.view.encoding()
	return e.AppendEvent(dst, View{Format: Format{Encoding: e}}, "ERROR", Text(text[:len(text)-1]))
}
