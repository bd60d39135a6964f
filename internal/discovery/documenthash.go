package discovery

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/api"
)

// documentHash returns a hash of all inputs of an OpenAPI v3 document, so that the index, which contains the hashes,
// does not require building any document.
func (e *snapshot) documentHash(name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%t %t %s\n", program(), e.options.Drop, e.options.Unset, name)
	for _, served := range e.kindsByDocument()[name] {
		served.addTo(h)
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// kindVersion is a kind at one of its versions.
type kindVersion struct {
	kind    *api.Kind
	version string
}

// addTo writes all properties of a kind at a version that its document contains.
func (s kindVersion) addTo(h io.Writer) {
	k := s.kind
	fmt.Fprintf(h, "%s %s %s %s %t %t %t %t %t %s\n", k.Group, k.Name, k.ListName(), k.Resource, k.Namespaced, k.CreateOnly, k.NoDeleteCollection,
		k.Custom, k.HasGoType(), strings.Join(k.SubresourcesAt(s.version), ","))
	if definition, ok := k.Definition.(Schema); ok {
		schema := definition.SchemaHash(s.version)
		fmt.Fprintf(h, "%x\n", schema)
	}
	if definition, ok := k.Definition.(Selectable); ok {
		fmt.Fprintln(h, strings.Join(definition.SelectableFields(s.version), " "))
	}
}

// kindsByDocument returns the kinds of each OpenAPI v3 document.
func kindsByDocument(all []*api.Kind) map[string][]kindVersion {
	about := map[string][]kindVersion{}
	for _, name := range documentNames3(all) {
		about[name] = nil
	}
	for _, k := range all {
		for _, version := range k.Versions {
			name := prefix(k.Group, version)[1:]
			about[name] = append(about[name], kindVersion{k, version})
		}
	}
	return about
}

// program identifies the program, because another build may generate different documents from the same kinds: by its
// build information if that is reproducible, otherwise by the size and modification time of the executable.
var program = sync.OnceValue(func() string {
	build, ok := debug.ReadBuildInfo()
	if ok && isReleased(build) {
		return build.String()
	}
	file, err := os.Executable()
	if err != nil {
		return time.Now().String()
	}
	info, err := os.Stat(file)
	if err != nil {
		return time.Now().String()
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
})

// isReleased reports whether the build identifies its source: by a module version, or by an unmodified revision.
func isReleased(build *debug.BuildInfo) bool {
	settings := map[string]string{}
	for _, setting := range build.Settings {
		settings[setting.Key] = setting.Value
	}
	return build.Main.Sum != "" || settings["vcs.revision"] != "" && settings["vcs.modified"] == "false"
}
