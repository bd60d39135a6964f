package client

import (
	"net/url"
	"regexp"
	"strings"
)

// proxied matches the paths of requests that are proxied to a pod, service or node. watched matches the paths of the
// deprecated watch endpoints. The patterns are not anchored at the start, because the host of a rest.Config may include
// a path prefix.
var (
	proxied = regexp.MustCompile(`/api/v1/(namespaces/[^/]+/(pods|services)|nodes)/[^/]+/proxy(/|$)`)
	watched = regexp.MustCompile(`/(api/[^/]+|apis/[^/]+/[^/]+)/watch/`)
)

// isProxied reports whether the API server proxies a request with this path to a pod, service or node. Such a response must
// not be modified.
func isProxied(path string) bool { return proxied.MatchString(path) }

// isWatch reports whether a request with this URL is a watch. It evaluates the query parameter watch as API servers do: any
// value except 0 and false requests a watch.
func isWatch(address *url.URL) bool {
	if watch, found := address.Query()["watch"]; found {
		return watch[0] != "0" && !strings.EqualFold(watch[0], "false")
	}
	return watched.MatchString(address.Path)
}
