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

// Placeholders for absent values.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// row is an object with the state for computing the cells of its row.
type row struct {
	object document.Value
	now    time.Time
	// pod is the state shared by the cells of pods, content the object as Go values for JSONPath; both are computed on
	// first use.
	pod     *podState
	content any
}

// at returns the value at a path of the object.
func (r *row) at(path []string) document.Value { return r.object.Lookup(path...) }

// get is at with a variadic path.
func (r *row) get(path ...string) document.Value { return r.object.Lookup(path...) }

// since returns the age of a timestamp; <unknown> if it is absent or invalid.
func (r *row) since(v document.Value) string {
	t := timeOf(v)
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(r.now.Sub(t))
}

// deleted reports whether the object is being deleted.
func (r *row) deleted() bool { return r.get("metadata", "deletionTimestamp").Kind() == document.String }

// appendCreated appends the creation timestamp in UTC.
func (r *row) appendCreated(dst []byte) []byte {
	dst = append(dst, '"')
	dst = timeOf(r.get("metadata", "creationTimestamp")).UTC().AppendFormat(dst, time.RFC3339)
	return append(dst, '"')
}

// textFunction returns the cell of a function that returns its text.
func textFunction(f func(r *row) string) cell {
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, f(r)) }
}

// text returns a string; "" for other values.
func text(v document.Value) string {
	if v.Kind() != document.String {
		return ""
	}
	return v.Text()
}

// nonemptyText returns a string; empty if it is absent or "".
func nonemptyText(v document.Value, empty string) string {
	if s := text(v); s != "" {
		return s
	}
	return empty
}

// integer returns an integer; 0 for other values.
func integer(v document.Value) int64 {
	i, _ := v.Int64()
	return i
}

// timeOf returns a time; the zero time for other values.
func timeOf(v document.Value) time.Time {
	t, err := time.Parse(time.RFC3339, text(v))
	if err != nil {
		return time.Time{}
	}
	return t
}

// stringItems returns the strings of a list, or of a field of its items.
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

// labelsText returns a map as key=value,… The pairs are sorted as strings, which differs from the order of the keys:
// app.kubernetes.io/name=web precedes app=web.
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

// selectorText returns a label selector in the string syntax of kubectl.
func selectorText(v document.Value) string { return metav1.FormatLabelSelector(labelSelector(v)) }

// labelSelector decodes a label selector; nil if it is absent or malformed.
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

// quantity returns a quantity in canonical form; 0 if it is absent.
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

// joinFirst joins the first items of a list, with the number of the remaining ones.
func joinFirst(first []string, separator string, all, maximum int) string {
	joined := strings.Join(first, separator)
	if all > maximum {
		return joined + " + " + strconv.Itoa(all-maximum) + " more..."
	}
	return joined
}

// ratio returns part/all.
func ratio(part, all int) string { return strconv.Itoa(part) + "/" + strconv.Itoa(all) }
