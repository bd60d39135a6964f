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

// hash3 returns what tells a document of version 3 from others of its name: a hash of all that it is made of. So the
// index of the documents, which has these, can be told without making any.
func (e *edition) hash3(name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%t %t %s\n", program(), e.options.Drop, e.options.Unset, name)
	for _, served := range e.about3()[name] {
		served.addTo(h)
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// served is a kind at one of its versions.
type served struct {
	kind    *api.Kind
	version string
}

// addTo adds what a document tells about a kind at a version.
func (s served) addTo(h io.Writer) {
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

// about3 says which kinds each document of version 3 is about.
func about3(all []*api.Kind) map[string][]served {
	about := map[string][]served{}
	for _, name := range names3(all) {
		about[name] = nil
	}
	for _, k := range all {
		for _, version := range k.Versions {
			name := prefix(k.Group, version)[1:]
			about[name] = append(about[name], served{k, version})
		}
	}
	return about
}

// program tells programs apart that may make other documents of the same kinds: by what they are built of, if that is
// known, or by the time when they were built.
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

// isReleased says whether what a program was built of has a name: a version, or a revision without changes.
func isReleased(build *debug.BuildInfo) bool {
	settings := map[string]string{}
	for _, setting := range build.Settings {
		settings[setting.Key] = setting.Value
	}
	return build.Main.Sum != "" || settings["vcs.revision"] != "" && settings["vcs.modified"] == "false"
}
