package limitranger_test

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/plugin/limitranger"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// BenchmarkCreatePod measures the creation of pods in an in-memory store: without the plugin, with the plugin in a namespace
// without LimitRanges, and with a LimitRange that sets defaults.
func BenchmarkCreatePod(b *testing.B) {
	for _, bench := range []struct {
		name          string
		plugins       []admission.Plugin
		hasLimitRange bool
	}{
		{"without", []admission.Plugin{namespacelifecycle.Plugin{}}, false},
		{"no LimitRange", []admission.Plugin{namespacelifecycle.Plugin{}, limitranger.Plugin{}}, false},
		{"a LimitRange", []admission.Plugin{namespacelifecycle.Plugin{}, limitranger.Plugin{}}, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			k := registrytest.OpenWithPlugins(b, watchcachetest.OpenStore(b), bench.plugins...)
			if bench.hasLimitRange {
				k.Create("limitranges", "default", `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"1"},"max":{"cpu":"2"}}]}}`)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				k.Create("pods", "default", fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, i))
			}
		})
	}
}
