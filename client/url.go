package client

import (
	"net/url"
	"regexp"
	"strings"
)

// The patterns are not anchored at the start, because the host of a config may have a path prefix.
var (
	proxied = regexp.MustCompile(`/api/v1/(namespaces/[^/]+/(pods|services)|nodes)/[^/]+/proxy(/|$)`)
	watched = regexp.MustCompile(`/(api/[^/]+|apis/[^/]+/[^/]+)/watch/`)
)

// isProxied reports whether the response comes from a pod, service or node, and must not be modified.
func isProxied(path string) bool { return proxied.MatchString(path) }

// isWatch reports whether a request is a watch, with the server's rules for the parameter watch.
func isWatch(address *url.URL) bool {
	if watch, found := address.Query()["watch"]; found {
		return watch[0] != "0" && !strings.EqualFold(watch[0], "false")
	}
	return watched.MatchString(address.Path)
}
