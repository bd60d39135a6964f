package encoding

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// The texts that a cell shows for absent values.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// row is an object, and the state that is needed to compute the cells of its row in a Table.
type row struct {
	object document.Value
	now    time.Time
	// pod is the state that the cells of a pod share; content is the object as Go values, for JSONPath. Both are computed on
	// first use.
	pod     *podState
	content any
}

// at returns the value at path in the object; an absent value if there is none.
func (r *row) at(path []string) document.Value { return r.object.Lookup(path...) }

// get returns the value at path in the object; an absent value if there is none.
func (r *row) get(path ...string) document.Value { return r.object.Lookup(path...) }

// since returns the time since the timestamp v in the format of kubectl, such as 5d; <unknown> if v is absent or invalid.
func (r *row) since(v document.Value) string {
	t := timeOf(v)
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(r.now.Sub(t))
}

// deleted reports whether the object has a deletionTimestamp.
func (r *row) deleted() bool { return r.get("metadata", "deletionTimestamp").Kind() == document.String }

// appendCreated appends the object's creationTimestamp, in UTC, as a JSON string.
func (r *row) appendCreated(dst []byte) []byte {
	dst = append(dst, '"')
	dst = timeOf(r.get("metadata", "creationTimestamp")).UTC().AppendFormat(dst, time.RFC3339)
	return append(dst, '"')
}

// textFunction returns a cell that shows the text that f returns.
func textFunction(f func(r *row) string) cell {
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, f(r)) }
}

// text returns the text of a string; "" for values of other types.
func text(v document.Value) string {
	if v.Kind() != document.String {
		return ""
	}
	return v.Text()
}

// nonemptyText returns the text of a string, or the argument empty if that is "" or v is not a string.
func nonemptyText(v document.Value, empty string) string {
	if s := text(v); s != "" {
		return s
	}
	return empty
}

// integer returns the value of an integer; 0 for values of other types.
func integer(v document.Value) int64 {
	i, _ := v.Int64()
	return i
}

// timeOf returns the time of a timestamp; the zero time if v is not a valid timestamp.
func timeOf(v document.Value) time.Time {
	t, err := time.Parse(time.RFC3339, text(v))
	if err != nil {
		return time.Time{}
	}
	return t
}

// stringItems returns the items of list, which are strings. If field is not "", the items are maps, and stringItems returns the
// strings in that field.
func stringItems(list document.Value, field string) []string {
	if list.Kind() != document.List {
		return nil
	}
	all := make([]string, 0, list.Len())
	for _, item := range list.Items() {
		if field != "" {
			item = item.Get(field)
		}
		all = append(all, text(item))
	}
	return all
}

// labelsText returns a map as "key=value,…". The pairs "key=value" are sorted as strings. This differs from the order of the
// keys: app.kubernetes.io/name=web precedes app=web.
func labelsText(v document.Value) string {
	if v.Kind() != document.Map || v.Len() == 0 {
		return none
	}
	pairs := make([]string, 0, v.Len())
	for name, value := range v.Fields() {
		pairs = append(pairs, name+"="+text(value))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ",")
}

// selectorText returns a label selector in kubectl's syntax for selectors.
func selectorText(v document.Value) string { return metav1.FormatLabelSelector(labelSelector(v)) }

// labelSelector decodes a label selector; it returns nil if v is absent or malformed.
func labelSelector(v document.Value) *metav1.LabelSelector {
	if v.Kind() != document.Map {
		return nil
	}
	selector := &metav1.LabelSelector{}
	if err := json.Unmarshal(v.AppendJSON(nil), selector); err != nil {
		return nil
	}
	return selector
}

// quantity returns v, a resource quantity, in canonical form; "0" if v is absent.
func quantity(v document.Value) string {
	if v.Kind() != document.String && v.Kind() != document.Number {
		return "0"
	}
	q, err := builtin.ParseQuantity(strings.TrimSpace(v.Text()))
	if err != nil {
		return v.Text()
	}
	return q.String()
}

// joinFirst joins first, the first items of a list with total items. If total exceeds maximum, it appends the number of items
// that are not shown.
func joinFirst(first []string, separator string, total, maximum int) string {
	joined := strings.Join(first, separator)
	if total > maximum {
		return joined + " + " + strconv.Itoa(total-maximum) + " more..."
	}
	return joined
}

// ratio returns the text "part/all".
func ratio(part, all int) string { return strconv.Itoa(part) + "/" + strconv.Itoa(all) }
