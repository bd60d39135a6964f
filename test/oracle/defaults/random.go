package defaults

import (
	"math/rand/v2"
	"strconv"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// Maker generates random documents of the given types.
type Maker struct {
	*rand.Rand
	// Sloppy makes Maker add values that Go would omit: nulls, zeros, empty lists and maps, and unknown fields.
	Sloppy bool
	// Wrong makes Maker add one value of a wrong type, so that most documents are rejected. Maker adds only one such
	// value, because with several, kube-apiserver does not always report the first.
	Wrong bool
	// Likely is the probability in percent that a field is generated.
	Likely int
}

func (m *Maker) chance(percent int) bool { return m.IntN(100) < percent }

// Struct generates a value of the struct type t. depth is the nesting depth of the value, which is limited; it is 0 for
// a whole object.
func (m *Maker) Struct(t *builtin.Type, depth int) document.Value {
	var fields []document.Field
	for i := range t.Fields {
		f := &t.Fields[i]
		if depth == 0 && (f.Name == "apiVersion" || f.Name == "kind") || !m.chance(m.Likely) || isExcluded(t, f) {
			continue
		}
		fields = append(fields, document.Field{Name: f.Name, Value: m.field(f, depth)})
	}
	if m.Sloppy && m.chance(3) {
		fields = append(fields, document.Field{Name: "somethingElse", Value: document.NewInt(1)})
	}
	return document.NewMap(fields...)
}

// isExcluded reports whether a field is never generated, because conversion between API versions changes its meaning.
func isExcluded(t *builtin.Type, f *builtin.Field) bool {
	switch t.Name {
	case "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus":
		return f.Name == "currentCPUUtilizationPercentage"
	}
	return false
}

func (m *Maker) field(f *builtin.Field, depth int) document.Value {
	if m.Sloppy && m.chance(5) {
		return document.NewNull()
	}
	if m.wrongValueDue() {
		return m.randomValue()
	}
	if f.Type.Kind == builtin.String && (f.Name == "image" || f.Name == "reference") {
		return document.NewString(pick(m, images))
	}
	return m.value(f.Type, depth, m.Sloppy && m.chance(10) || f.Pointer && m.chance(10))
}

// value generates a value of the type t: its zero value if zero is set.
func (m *Maker) value(t *builtin.Type, depth int, zero bool) document.Value {
	switch t.Kind {
	case builtin.Struct:
		if zero || depth > 12 {
			return document.NewMap()
		}
		return m.Struct(t, depth+1)
	case builtin.List:
		return m.list(t, depth, zero)
	case builtin.Map:
		return m.mapOf(t, depth, zero)
	case builtin.String:
		return m.text(zero)
	case builtin.Bool:
		return document.NewBool(!zero)
	case builtin.Int32, builtin.Int64:
		return m.number(zero)
	case builtin.IntOrString:
		if m.chance(50) {
			return m.text(zero)
		}
		return m.number(zero)
	case builtin.Quantity:
		return m.quantity()
	case builtin.Bytes:
		if zero {
			return document.NewString("")
		}
		return document.NewString(pick(m, bytesTexts))
	case builtin.Time:
		return document.NewString(pick(m, times))
	case builtin.MicroTime:
		return document.NewString(pick(m, microTimes))
	}
	return document.NewMap(document.Field{Name: "f:x", Value: document.NewMap()})
}

func (m *Maker) list(t *builtin.Type, depth int, zero bool) document.Value {
	var items []document.Value
	for range m.size(zero) {
		if m.Sloppy && m.chance(2) {
			items = append(items, document.NewNull())
			continue
		}
		if m.wrongValueDue() {
			items = append(items, m.randomValue())
			continue
		}
		items = append(items, m.value(t.Elem, depth, m.Sloppy && m.chance(5)))
	}
	return document.NewList(items...)
}

func (m *Maker) mapOf(t *builtin.Type, depth int, zero bool) document.Value {
	var fields []document.Field
	for range m.size(zero) {
		value := m.value(t.Elem, depth, m.Sloppy && m.chance(5))
		switch {
		case m.Sloppy && m.chance(5) && t.Elem.Kind != builtin.Bytes: // kube-apiserver does not store this null
			value = document.NewNull()
		case m.wrongValueDue():
			value = m.randomValue()
		}
		fields = append(fields, document.Field{Name: pick(m, keys), Value: value})
	}
	return document.NewMap(fields...)
}

// wrongValueDue reports whether the next value should be of a wrong type. It returns true at most once per document.
func (m *Maker) wrongValueDue() bool {
	now := m.Wrong && m.chance(3)
	m.Wrong = m.Wrong && !now
	return now
}

// randomValue generates a value of a random JSON type.
func (m *Maker) randomValue() document.Value {
	v, err := document.ParseJSON([]byte(pick(m, anyValues)))
	if err != nil {
		panic(err)
	}
	return v
}

func (m *Maker) size(zero bool) int {
	if zero {
		return 0
	}
	return 1 + m.IntN(3)
}

func (m *Maker) text(zero bool) document.Value {
	if zero {
		return document.NewString("")
	}
	return document.NewString(pick(m, words))
}

func (m *Maker) number(zero bool) document.Value {
	if zero {
		return document.NewInt(0)
	}
	return document.NewInt(int64(1 + m.IntN(1000)))
}

func (m *Maker) quantity() document.Value {
	if m.chance(20) {
		v, err := document.NewNumber(pick(m, []string{"1", "0.5", "1000", "1e3", "2.50"}))
		if err != nil {
			panic(err)
		}
		return v
	}
	if m.chance(30) {
		return document.NewString(strconv.Itoa(m.IntN(3000)) + pick(m, suffixes))
	}
	return document.NewString(pick(m, quantities))
}

func pick(m *Maker, from []string) string { return from[m.IntN(len(from))] }

var (
	anyValues = []string{`"x"`, `5`, `-1`, `1.5`, `1e3`, `3000000000`, `1e100`, `99999999999999999999`, `true`, `{}`, `{"x":1}`, `[]`, `["x"]`, `[1]`, `[{}]`, `""`}
	images    = []string{"nginx", "nginx:latest", "nginx:1.25", "registry.example/a/b:latest", "registry.example:5000/a",
		"a@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "Bad", "bad image"}
	words = []string{"a", "b", "web", "RollingUpdate", "Recreate", "OnDelete", "ClusterIP", "NodePort", "LoadBalancer",
		"ExternalName", "ClientIP", "None", "Container", "Pod", "User", "Group", "ServiceAccount", "ExactCount", "All", "10.0.0.1", "Always"}
	keys       = []string{"cpu", "memory", "hugepages-2Mi", "example.com/gpu", "app", "a.b/c"}
	suffixes   = []string{"", "m", "k", "Ki", "Mi", "Gi", "u", "n", "M", "G", "e2", "E"}
	quantities = []string{"100m", "1", "1000m", "0.5", "64Mi", "128Mi", "1024Mi", "1.5Gi", "1e3", "100u", "1n", "0", "0.0001", "+1", " 2 ", "12345678901234567890123"}
	times      = []string{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00+01:00", "2020-01-01T00:00:00.123Z"}
	microTimes = []string{"2020-01-01T00:00:00.000001Z", "2020-01-01T00:00:00.500000+01:00"}
	bytesTexts = []string{"YQ==", "YWI=", "YWJj", "YR==", "YWJj\nYWJj"}
)
