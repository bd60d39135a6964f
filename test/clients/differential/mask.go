package differential

import (
	"regexp"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// masked masks what each server chooses for itself: uids, addresses, ports, times, which are those of today, the order of
// errors in a map, and where its store has an object.
func masked(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		expected[i].Data = timeIn.ReplaceAllFunc(file.Data, func(text []byte) []byte {
			if t, err := time.Parse(time.RFC3339, string(text)); err == nil && time.Since(t).Abs() < 24*time.Hour {
				return []byte("<time>")
			}
			return text
		})
		expected[i].Data = uidIn.ReplaceAll(expected[i].Data, []byte("<uid>"))
		expected[i].Data = addressIn.ReplaceAll(expected[i].Data, []byte("$1<any>"))
		if file.Name == "error" {
			expected[i].Data = networkIn.ReplaceAll(withoutOrder(expected[i].Data), []byte("<any>"))
			expected[i].Data = storeIn.ReplaceAll(expected[i].Data, nil)
		}
		expected[i].Data = portIn.ReplaceAll(expected[i].Data, []byte("$1<any>"))
	}
	return expected
}

// withoutOrder leaves the errors out of the message if several are in one map, which the real server validates in the
// order of Go's maps. They are compared as causes, whose order does not matter.
func withoutOrder(text []byte) []byte {
	status, err := document.ParseYAML(text)
	name, _, ok := strings.Cut(status.Get("message").Text(), " is invalid: [")
	if err != nil || !ok {
		return text
	}
	keys := map[string]string{} // of the first error in each map
	for _, cause := range status.Get("causes").Items() {
		path := keyIn.FindStringSubmatch(cause.Get("field").Text())
		if path == nil {
			continue
		}
		if first, ok := keys[path[1]]; ok && first != path[2] {
			return []byte(status.With("message", document.NewString(name+" is invalid: [<any>]")).YAML() + "\n")
		}
		keys[path[1]] = path[2]
	}
	return text
}

var (
	// keyIn finds the key of an error's path, and what is before it. Lists have numbers.
	keyIn  = regexp.MustCompile(`^(.*?)\[([^\]]*[^\]\d][^\]]*)\]`)
	timeIn = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// addressIn finds the address of a service, whole.
	addressIn = regexp.MustCompile(`(clusterIP: |clusterIPs:\n  - )\d+\.\d+\.\d+\.\d+`)
	// networkIn finds an address of the real server's network in an error.
	networkIn = regexp.MustCompile(`10\.0\.0\.\d+`)
	// storeIn finds what etcd's client says before a precondition that failed.
	storeIn = regexp.MustCompile(`StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: 0, AdditionalErrorMsg: `)
	portIn  = regexp.MustCompile(`((?:nodePort|healthCheckNodePort): )\d+`)
	uidIn   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)
