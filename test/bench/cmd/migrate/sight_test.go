package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func seen(t *testing.T, objects ...string) sight {
	t.Helper()
	s := sight{owners: map[string]int{}}
	for _, text := range objects {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		rest, err := s.take(o)
		if err != nil {
			t.Fatal(err)
		}
		copy(s.values[:], rest) // the beginning of it will do
	}
	return s
}

const (
	former   = `{"a":1,"metadata":{"resourceVersion":"1","managedFields":[{"manager":"old","operation":"Update"}]}}`
	migrated = `{"a":1,"metadata":{"resourceVersion":"2","managedFields":[{"manager":"new","operation":"Apply"}]}}`
	shared   = `{"a":1,"metadata":{"managedFields":[{"manager":"new","operation":"Apply"},{"manager":"old","operation":"Update"}]}}`
	changed  = `{"a":2,"metadata":{"managedFields":[{"manager":"new","operation":"Apply"}]}}`
)

func TestWhatIsLostIsSeen(t *testing.T) {
	before := seen(t, former)
	for _, test := range []struct {
		name, now, want string
		objects         int
	}{
		{"nothing", migrated, "", 1},
		{"not migrated", former, "owners", 1},
		{"a former owner", shared, "owners", 1},
		{"an object", migrated, "owners", 2},
		{"a value", changed, "values", 1},
	} {
		err := seen(t, test.now).same(before, "new", test.objects)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: expected %q, received %v", test.name, test.want, err)
		}
	}
	if _, err := (&sight{}).take(map[string]any{}); err == nil {
		t.Error("an object without metadata is none")
	}
}
