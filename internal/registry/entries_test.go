package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
)

// TestSameEntries checks that sameEntries ignores times and order of managed fields entries, but not their number.
func TestSameEntries(t *testing.T) {
	entry := func(manager string, second int64) apply.Entry {
		return apply.Entry{Manager: manager, Operation: apply.Update, APIVersion: "v1", Time: time.Unix(second, 0), FieldsV1: `{"f:data":{}}`}
	}
	a, b, other := entry("a", 1), entry("b", 2), entry("a", 1)
	other.FieldsV1 = `{"f:spec":{}}`
	for _, test := range []struct {
		name string
		a, b []apply.Entry
		want bool
	}{
		{"none", nil, []apply.Entry{}, true},
		{"other times", []apply.Entry{a, b}, []apply.Entry{entry("a", 3), entry("b", 4)}, true},
		{"another order", []apply.Entry{a, b}, []apply.Entry{b, entry("a", 3)}, true},
		{"one less", []apply.Entry{a, b}, []apply.Entry{a}, false},
		{"other fields", []apply.Entry{a, b}, []apply.Entry{b, other}, false},
		{"one twice", []apply.Entry{a, a, b}, []apply.Entry{a, b, b}, false},
		{"one twice in another order", []apply.Entry{a, b, a}, []apply.Entry{b, a, a}, true},
	} {
		if got := sameEntries(test.a, test.b); got != test.want {
			t.Errorf("%s: sameEntries() = %v, want %v", test.name, got, test.want)
		}
		if got := sameEntries(test.b, test.a); got != test.want {
			t.Errorf("%s, swapped: sameEntries() = %v, want %v", test.name, got, test.want)
		}
	}
}

// TestManyManagers checks that the duration of a write is not quadratic in the number of managed fields entries.
func TestManyManagers(t *testing.T) {
	const few, many = 1500, 15000
	for _, operation := range []string{"Update", "Apply"} {
		t.Run(operation, func(t *testing.T) {
			short := min(timeWithManagers(t, operation, few), timeWithManagers(t, operation, few), timeWithManagers(t, operation, few))
			if long := timeWithManagers(t, operation, many); long > 40*short+5*time.Second {
				t.Errorf("writes with %d managers took %v and with %d managers %v, want a duration linear in their number", few, short, many, long)
			}
		})
	}
}

// timeWithManagers returns the duration of a create, an update and an apply of an object with the given number of managed
// fields entries.
func timeWithManagers(t *testing.T, operation string, managers int) time.Duration {
	o := open(t, Options{})
	endpoint := o.endpoint(t, "", "configmaps")
	var entries []string
	for i := range managers {
		entries = append(entries, fmt.Sprintf(`{"manager":"m%d","operation":%q,"apiVersion":"v1","fieldsType":"FieldsV1",`+
			`"time":"2026-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:k%d":{}}}}`, i, operation, 20000+i))
	}
	text := func(data string) Body {
		return Body{Text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[` + strings.Join(entries, ",") + `]},"data":{` + data + `}}`}
	}
	start := time.Now()
	if _, err := o.Create(t.Context(), request(endpoint, "default", "", text(`"k1":"a"`))); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	if _, err := o.Update(t.Context(), request(endpoint, "default", "a", text(`"k1":"b"`))); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Apply(t.Context(), request(endpoint, "default", "a", Body{YAML: true, Text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k2":"c"}}`})); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}
