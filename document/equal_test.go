package document

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`1`, `1e0`, true},
		{`100`, `1E+2`, true},
		{`0`, `-0`, true},
		{`0.0`, `-0`, true},
		{`0.1`, `0.10`, true},
		{`1`, `"1"`, false},
		{`1`, `true`, false},
		{`1`, `2`, false},
		{`9223372036854775807`, `9223372036854775808`, false},
		{`12345678901234567890123`, `12345678901234567890124`, false},
		{`9007199254740993`, `9007199254740992.0`, false},
		{`9007199254740992`, `9007199254740992.0`, true},
		{`18446744073709551616`, `18446744073709551616.0`, true},
		{`-18446744073709551617`, `-18446744073709551616.0`, false},
		{`1e999`, `1e999`, true},
		{`1e999`, `1e998`, false},
		{`1e999`, `-1e999`, false},
		{`null`, `false`, false},
		{`null`, `null`, true},
		{`{}`, `[]`, false},
		{`{}`, `null`, false},
		{`""`, `null`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1,"b":2}`, `{ "b":2.0, "a":1 }`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`"a"`, `"\u0061"`, true},
		{`{"a":1}`, `{"b":1}`, false},
	} {
		a, b := mustParse(t, test.a), mustParse(t, test.b)
		if got := Equal(a, b); got != test.want {
			t.Errorf("Equal(%s, %s) = %v, want %v", a, b, got, test.want)
		}
		if got := Equal(b, a); got != test.want {
			t.Errorf("Equal(%s, %s) = %v, want %v", b, a, got, test.want)
		}
		if got := Compare(a, b) == 0; got != test.want {
			t.Errorf("Compare(%s, %s) == 0 is %v, want %v", a, b, got, test.want)
		}
	}
}

func TestEqualAbsent(t *testing.T) {
	if !Equal(Value{}, Value{}) || Equal(Value{}, NewNull()) || Equal(NewNull(), Value{}) {
		t.Error("Equal of absent and null values: an absent value must equal an absent value only")
	}
	if Compare(Value{}, Value{}) != 0 || Compare(NewNull(), Value{}) >= 0 || Compare(Value{}, NewNull()) <= 0 {
		t.Error("Compare of absent and null values: an absent value must be the greatest")
	}
}

// comparisonSamples returns an absent value, numbers at the limits of float64, and random values.
func comparisonSamples() []Value {
	r := newRand()
	values := []Value{{}}
	for _, s := range []string{"1e999", "-1e999", "1e998", "9007199254740993", "9007199254740992.0", "9007199254740992", "9007199254740994.0", "12345678901234567890123", "1.2345678901234568e22"} {
		v, _ := NewNumber(s)
		values = append(values, v)
	}
	for range 120 {
		values = append(values, randomValue(r, 3))
	}
	return values
}

func TestCompareIsATotalOrder(t *testing.T) {
	values := comparisonSamples()
	for _, a := range values {
		for _, b := range values {
			ab := Compare(a, b)
			if ab != -Compare(b, a) {
				t.Fatalf("Compare(%s, %s) = %d, with swapped arguments %d, want the opposite sign", a, b, ab, Compare(b, a))
			}
			if (ab == 0) != Equal(a, b) {
				t.Fatalf("Compare(%s, %s) = %d but Equal = %v, want 0 exactly if Equal", a, b, ab, Equal(a, b))
			}
			for _, c := range values {
				if ab <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
					t.Fatalf("%s ≤ %s ≤ %s, but Compare(first, last) > 0; the order is not transitive", a, b, c)
				}
			}
		}
	}
}

// TestCompareAsKubernetes checks that Compare and Equal return the same results as structured-merge-diff for random
// values whose numbers fit into int64 and float64.
func TestCompareAsKubernetes(t *testing.T) {
	r := newRand()
	for range 20_000 {
		a, b := randomValue(r, 3), randomValue(r, 3)
		if r.IntN(3) == 0 {
			b = mustParse(t, " "+a.JSON())
		}
		ours, upstream := Compare(a, b), value.Compare(value.NewValueInterface(a.ToGo()), value.NewValueInterface(b.ToGo()))
		if ours != upstream {
			t.Fatalf("Compare(%s, %s) = %d, structured-merge-diff returns %d", a, b, ours, upstream)
		}
		if equal := value.Equals(value.NewValueInterface(a.ToGo()), value.NewValueInterface(b.ToGo())); Equal(a, b) != equal {
			t.Fatalf("Equal(%s, %s) = %v, structured-merge-diff returns %v", a, b, !equal, equal)
		}
	}
}
