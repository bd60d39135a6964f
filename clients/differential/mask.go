package differential

import (
	"regexp"
	"time"

	"golang.org/x/tools/txtar"
)

// masked masks what each server chooses for itself: uids, addresses, ports, and times, which are those of today.
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
			expected[i].Data = networkIn.ReplaceAll(expected[i].Data, []byte("<any>"))
		}
		expected[i].Data = portIn.ReplaceAll(expected[i].Data, []byte("$1<any>"))
	}
	return expected
}

var (
	timeIn = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// addressIn finds the address of a service, whole.
	addressIn = regexp.MustCompile(`(clusterIP: |clusterIPs:\n  - )\d+\.\d+\.\d+\.\d+`)
	// networkIn finds an address of the real server's network in an error.
	networkIn = regexp.MustCompile(`10\.0\.0\.\d+`)
	portIn    = regexp.MustCompile(`((?:nodePort|healthCheckNodePort): )\d+`)
	uidIn     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)
