package storebench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// ValueSize is the default size of a stored value in bytes, about that of an encoded object.
const ValueSize = 3 << 10

// kind is the resource under which the watch cache stores the objects.
const kind = "core/pods"

// objectSource generates pods in canonical JSON. Two fifths of a pod are managedFields, which compress well; most of
// the rest is random, so that compression favours neither store.
type objectSource struct {
	random *rand.Rand
	size   int
	// maxDeviation is the maximum deviation from the mean size in bytes, so that no store benefits from the size
	// classes of the allocator.
	maxDeviation int
	parts        podParts
}

// podParts contains the constant parts of all pods of one size. The upper-case words are variable:
//
//	labels APP tail NAME namespace NAMESPACE uid FILLER end
type podParts struct{ labels, tail, namespace, uid, end string }

func newObjectSource(seed uint64, size int) objectSource {
	return objectSource{random: rand.New(rand.NewPCG(seed, ValueSize)), size: size, parts: newPodParts(size)}
}

// smallSize is the maximum size of pods that contain only required fields, in bytes.
const smallSize = 1 << 10

func newPodParts(size int) podParts {
	moreLabels, uid, environment := `"`, ``, `"}],`
	if size > smallSize {
		uid = `,"uid":"f1e3cb76-5e4b-4b6e-9d4f-0c4b6c1f2a90"`
		moreLabels = `","app.kubernetes.io/part-of":"shop","pod-template-hash":"7c9d6f4b5","tier":"front"`
		environment = `"},{"name":"LOG_LEVEL","value":"info"}],"image":"registry.example.com/shop/web:2.30.1",`
	}
	return podParts{
		labels:    `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"`,
		tail:      moreLabels + `},"managedFields":` + managedFields(size*2/5) + `,"name":"`,
		namespace: `","namespace":"`,
		uid:       `"` + uid + `},"spec":{"containers":[{"env":[{"name":"CONFIG","value":"`,
		end:       environment + `"name":"web"}],"nodeName":"node-17"},"status":{"phase":"Running"}}`,
	}
}

// managedFields returns managedFields of about the given size in bytes: one entry, with the fields of as many
// containers as necessary.
func managedFields(size int) string {
	const start, end = `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{`,
		`}}},"manager":"deployer","operation":"Apply"}]`
	const entry = 60 // approximate size of the fields of one container
	var containers []string
	for length := len(start) + len(end); length < size-entry/2; {
		c := fmt.Sprintf(`"k:{\"name\":\"c%02d\"}":{".":{},"f:image":{},"f:name":{}}`, len(containers))
		containers = append(containers, c)
		length += len(c) + 1
	}
	return start + strings.Join(containers, ",") + end
}

// next returns a new pod, which the caller may retain.
func (s objectSource) next(namespace, name, app string) []byte {
	p := &s.parts
	fixed := len(p.labels) + len(app) + len(p.tail) + len(name) + len(p.namespace) + len(namespace) + len(p.uid) + len(p.end)
	filler := max(0, s.size-fixed+s.random.IntN(2*s.maxDeviation+1)-s.maxDeviation)
	start := s.random.IntN(len(text()) - filler)
	pod := make([]byte, 0, fixed+filler)
	pod = append(append(pod, p.labels...), app...)
	pod = append(append(pod, p.tail...), name...)
	pod = append(append(pod, p.namespace...), namespace...)
	pod = append(append(pod, p.uid...), text()[start:start+filler]...)
	return append(pod, p.end...)
}

// text returns random printable text, which is the same in every process.
var text = sync.OnceValue(func() []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 4<<20)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return text
})
