package client

import (
	"net/url"
	"regexp"
	"strings"
)

// The config of a client may have a path that comes before all others, so that these are looked for anywhere.
var (
	proxied = regexp.MustCompile(`/api/v1/(namespaces/[^/]+/(pods|services)|nodes)/[^/]+/proxy(/|$)`)
	watched = regexp.MustCompile(`/(api/[^/]+|apis/[^/]+/[^/]+)/watch/`)
)

// isProxied reports whether somebody else than the server answers: what is in there is none of our business.
func isProxied(path string) bool { return proxied.MatchString(path) }

// isWatch reports whether a server answers with a watch, in the way in which servers read that parameter.
func isWatch(address *url.URL) bool {
	if watch, there := address.Query()["watch"]; there {
		return watch[0] != "0" && !strings.EqualFold(watch[0], "false")
	}
	return watched.MatchString(address.Path)
}
