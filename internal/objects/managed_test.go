package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestManyManagers: a body with as many managers as it has room for is not much more work than another of its
// size.
func TestManyManagers(t *testing.T) {
	for _, operation := range []string{"Update", "Apply"} {
		t.Run(operation, func(t *testing.T) {
			o := open(t, Options{})
			endpoint := o.endpoint(t, "", "configmaps")
			var entries []string
			for i := range 15000 {
				entries = append(entries, fmt.Sprintf(`{"manager":"m%d","operation":%q,"apiVersion":"v1","fieldsType":"FieldsV1",`+
					`"time":"2026-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:k%d":{}}}}`, i, operation, 20000+i))
			}
			text := func(data string) Body {
				return Body{Text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[` + strings.Join(entries, ",") + `]},"data":{` + data + `}}`}
			}
			begun := time.Now()
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
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
