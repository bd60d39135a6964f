package differential

import (
	"regexp"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// masked returns expected with masks for values that each server chooses: UIDs, addresses, ports, current times, the
// order of errors within a map, and storage keys.
func masked(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		expected[i].Data = timePattern.ReplaceAllFunc(file.Data, func(text []byte) []byte {
			if t, err := time.Parse(time.RFC3339, string(text)); err == nil && time.Since(t).Abs() < 24*time.Hour {
				return []byte("<time>")
			}
			return text
		})
		expected[i].Data = uidPattern.ReplaceAll(expected[i].Data, []byte("<uid>"))
		expected[i].Data = clusterIPPattern.ReplaceAll(expected[i].Data, []byte("$1<any>"))
		if file.Name == "error" {
			expected[i].Data = serviceNetworkPattern.ReplaceAll(withoutOrder(expected[i].Data), []byte("<any>"))
			expected[i].Data = storageErrorPattern.ReplaceAll(expected[i].Data, nil)
		}
		expected[i].Data = portPattern.ReplaceAll(expected[i].Data, []byte("$1<any>"))
	}
	return expected
}

// withoutOrder masks the errors in the message of a Status if several of them are in one map, which kube-apiserver
// validates in the random order of Go maps. The errors are still compared as causes, whose order is ignored.
func withoutOrder(text []byte) []byte {
	status, err := document.ParseYAML(text)
	name, _, ok := strings.Cut(status.Get("message").Text(), " is invalid: [")
	if err != nil || !ok {
		return text
	}
	keys := map[string]string{} // maps the path of a map to the key of its first error
	for _, cause := range status.Get("causes").Items() {
		path := mapKeyPattern.FindStringSubmatch(cause.Get("field").Text())
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
	// mapKeyPattern matches the first map key in the path of an error, and the path before it. List indexes are numeric
	// and do not match.
	mapKeyPattern = regexp.MustCompile(`^(.*?)\[([^\]]*[^\]\d][^\]]*)\]`)
	timePattern   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// clusterIPPattern matches cluster IPs in YAML.
	clusterIPPattern = regexp.MustCompile(`(clusterIP: |clusterIPs:\n  - )\d+\.\d+\.\d+\.\d+`)
	// serviceNetworkPattern matches an address of kube-apiserver's service network.
	serviceNetworkPattern = regexp.MustCompile(`10\.0\.0\.\d+`)
	// storageErrorPattern matches the prefix that kube-apiserver's storage layer adds to the message of a failed
	// precondition.
	storageErrorPattern = regexp.MustCompile(`StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: 0, AdditionalErrorMsg: `)
	portPattern         = regexp.MustCompile(`((?:nodePort|healthCheckNodePort): )\d+`)
	uidPattern          = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)
