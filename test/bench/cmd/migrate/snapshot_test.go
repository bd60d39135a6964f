package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func snap(t *testing.T, objects ...string) snapshot {
	t.Helper()
	s := snapshot{owners: map[string]int{}}
	for _, text := range objects {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		rest, err := s.add(o)
		if err != nil {
			t.Fatal(err)
		}
		copy(s.values[:], rest) // values is compared only for equality: a prefix of the JSON is sufficient
	}
	return s
}

const (
	former   = `{"a":1,"metadata":{"resourceVersion":"1","managedFields":[{"manager":"old","operation":"Update"}]}}`
	migrated = `{"a":1,"metadata":{"resourceVersion":"2","managedFields":[{"manager":"new","operation":"Apply"}]}}`
	shared   = `{"a":1,"metadata":{"managedFields":[{"manager":"new","operation":"Apply"},{"manager":"old","operation":"Update"}]}}`
	changed  = `{"a":2,"metadata":{"managedFields":[{"manager":"new","operation":"Apply"}]}}`
)

func TestSnapshotDetectsLoss(t *testing.T) {
	before := snap(t, former)
	for _, test := range []struct {
		name, now, want string
		objects         int
	}{
		{"nothing", migrated, "", 1},
		{"not migrated", former, "field managers", 1},
		{"another manager", shared, "field managers", 1},
		{"object missing", migrated, "field managers", 2},
		{"value changed", changed, "values", 1},
	} {
		err := snap(t, test.now).checkMigrated(before, "new", test.objects)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: checkMigrated() = %[3]v, want an error that starts with %[2]q", test.name, test.want, err)
		}
	}
	if _, err := (&snapshot{}).add(map[string]any{}); err == nil {
		t.Error("add() of an object without metadata succeeded, want an error")
	}
}
