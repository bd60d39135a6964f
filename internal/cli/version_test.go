package cli

import (
	"runtime/debug"
	"testing"
)

func TestNewBuildInfo(t *testing.T) {
	checkout := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	installed := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, test := range []struct {
		name string
		got  buildInfo
		want buildInfo
	}{
		{"linker", newBuildInfo("v1.2.3", "abc", "today", checkout), buildInfo{"v1.2.3", "abc", "today"}},
		{"checkout", newBuildInfo("", "", "", checkout), buildInfo{"(devel)", "0123-dirty", "2026-01-02T03:04:05Z"}},
		{"release", newBuildInfo("", "", "", installed("v1.2.3")), buildInfo{"v1.2.3", "unknown", "unknown"}},
		{"pre-release", newBuildInfo("", "", "", installed("v1.2.3-rc.1")), buildInfo{"v1.2.3-rc.1", "unknown", "unknown"}},
		{
			"pseudo-version", newBuildInfo("", "", "", installed("v0.0.0-20260102030405-0123456789ab")),
			buildInfo{"v0.0.0-20260102030405-0123456789ab", "0123456789ab", "2026-01-02T03:04:05Z"},
		},
		{
			"pseudo-version after a release", newBuildInfo("", "", "", installed("v1.2.4-0.20260102030405-0123456789ab")),
			buildInfo{"v1.2.4-0.20260102030405-0123456789ab", "0123456789ab", "2026-01-02T03:04:05Z"},
		},
		{"no build information", newBuildInfo("", "", "", nil), buildInfo{"unknown", "unknown", "unknown"}},
	} {
		if test.got != test.want {
			t.Errorf("%s: newBuildInfo() = %+v, want %+v", test.name, test.got, test.want)
		}
	}
}
