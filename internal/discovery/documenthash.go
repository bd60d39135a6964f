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

// documentHash returns a hash of all inputs of the OpenAPI v3 document with the given name. The index of documents contains the
// hashes; because they are computed from the inputs, the index can be served without building any document.
func (s *snapshot) documentHash(name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%t %t %s\n", programID(), s.options.Drop, s.options.Unset, name)
	for _, served := range s.kindsByDocument()[name] {
		served.writeInputs(h)
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// kindVersion is a kind at one of its versions.
type kindVersion struct {
	kind    *api.Kind
	version string
}

// writeInputs writes to h, a hash, the properties of the kind at its version that affect the OpenAPI v3 document.
func (v kindVersion) writeInputs(h io.Writer) {
	k := v.kind
	fmt.Fprintf(h, "%s %s %s %s %t %t %t %t %t %s\n", k.Group, k.Name, k.ListName(), k.Resource, k.Namespaced, k.CreateOnly, k.NoDeleteCollection,
		k.Custom, k.HasGoType(), strings.Join(k.SubresourcesAt(v.version), ","))
	if definition, ok := k.Definition.(Schema); ok {
		schema := definition.SchemaHash(v.version)
		fmt.Fprintf(h, "%x\n", schema)
	}
	if definition, ok := k.Definition.(Selectable); ok {
		fmt.Fprintln(h, strings.Join(definition.SelectableFields(v.version), " "))
	}
}

// kindsByDocument maps the name of each OpenAPI v3 document to the kinds that it describes.
func kindsByDocument(all []*api.Kind) map[string][]kindVersion {
	kinds := map[string][]kindVersion{}
	for _, name := range documentNames3(all) {
		kinds[name] = nil
	}
	for _, k := range all {
		for _, version := range k.Versions {
			name := prefix(k.Group, version)[1:]
			kinds[name] = append(kinds[name], kindVersion{k, version})
		}
	}
	return kinds
}

// programID returns a string that identifies the build of the program, because another build may generate different documents
// from the same kinds. It is the build information, or the size and modification time of the executable if the build
// information does not identify the source.
var programID = sync.OnceValue(func() string {
	build, ok := debug.ReadBuildInfo()
	if ok && identifiesSource(build) {
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

// identifiesSource reports whether build information identifies the source: by the checksum of a module version, or by a VCS
// revision without local modifications.
func identifiesSource(build *debug.BuildInfo) bool {
	settings := map[string]string{}
	for _, setting := range build.Settings {
		settings[setting.Key] = setting.Value
	}
	return build.Main.Sum != "" || settings["vcs.revision"] != "" && settings["vcs.modified"] == "false"
}
