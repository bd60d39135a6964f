package app

import (
	"errors"
	"strings"
	"testing"
)

// TestHealth checks the health endpoints, whose responses equal those of Kubernetes.
func TestHealth(t *testing.T) {
	c := start(t, Config{})
	for _, name := range []string{"healthz", "livez", "readyz"} {
		ping := "[+]ping ok\n[+]store ok\n[+]commits ok\n"
		if name == "readyz" {
			ping += "[+]shutdown ok\n"
		}
		for query, want := range map[string]string{
			"":                          "ok",
			"?verbose":                  ping + name + " check passed\n",
			"?verbose=true":             ping + name + " check passed\n",
			"?exclude=store":            "ok",
			"?verbose&exclude=store":    strings.Replace(ping, "[+]store ok", "[+]store excluded: ok", 1) + name + " check passed\n",
			"?verbose&exclude=nonsense": ping + "warn: some health checks cannot be excluded: no matches for \"nonsense\"\n" + name + " check passed\n",
			"/ping":                     "ok",
			"/store":                    "ok",
		} {
			a := c.call("GET", "/"+name+query, "").want(200)
			if a.text != want || a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%s%s: received %q as %s, want %q", name, query, a.text, a.header.Get("Content-Type"), want)
			}
		}
		c.call("GET", "/"+name+"/nonsense", "").want(404)
		c.call("POST", "/"+name, "").want(200)
		c.withToken("").call("POST", "/"+name, "").want(403)
		c.withToken("").call("GET", "/"+name+"/ping", "").want(403) // individual checks are not public
	}
	c.call("GET", "/livez/shutdown", "").want(404)
	c.call("GET", "/readyzz", "").want(404)
}

// TestHealthWithoutCommits checks that a server whose store rejects commits is not ready, and is not live if a restart may
// clear the failure.
func TestHealthWithoutCommits(t *testing.T) {
	c := start(t, Config{})
	var (
		failure    error
		mayRecover bool
	)
	c.server.handler.Failure = func() (bool, error) { return mayRecover, failure }
	failure = errors.New("write /data/store/000004.log: no space left on device")
	c.call("GET", "/livez", "").want(200)
	c.call("GET", "/healthz", "").want(200)
	broken := c.call("GET", "/readyz", "").want(500)
	if want := "[+]ping ok\n[+]store ok\n[-]commits failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n"; broken.text != want {
		t.Errorf("/readyz: got %q, want %q", broken.text, want)
	}
	c.call("GET", "/readyz?exclude=commits", "").want(200)
	c.call("GET", "/readyz/commits", "").want(500, "internal server error: reason withheld")
	c.call("GET", configMaps, "").want(200)
	mayRecover = true
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		c.call("GET", path, "").want(500, "[-]commits failed: reason withheld")
	}
}

// TestHealthWhileStopping checks that a server that is shutting down is live but not ready.
func TestHealthWhileStopping(t *testing.T) {
	c := start(t, Config{})
	c.server.handler.Drain()
	c.call("GET", "/livez", "").want(200)
	c.call("GET", "/readyz", "").want(500, "[-]shutdown failed: reason withheld", "readyz check failed")
}
