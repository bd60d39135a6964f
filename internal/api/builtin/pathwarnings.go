package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// filePath is the path of a file in a volume. source describes the source of a projected volume that contains the file; it is
// "" for other volumes.
type filePath struct{ path, source string }

func (p filePath) String() string {
	if p.source == "" {
		return fmt.Sprintf("%q", p.path)
	}
	return fmt.Sprintf("%q (%s)", p.path, p.source)
}

// filePaths holds the files of a volume, in the slice all, and two indexes of them. byPath maps a path to the indexes in all of
// the files at that path; byDirectory maps the path of a directory to the indexes in all of the files below that directory.
type filePaths struct {
	all                 []filePath
	byPath, byDirectory map[string][]int
}

// add appends p to f.all and returns the indexes in f.all of the files that overlap with p: files at the path of p, files at
// the path of a parent directory of p, and files below the path of p.
func (f *filePaths) add(p filePath) (overlapping []int) {
	p.path = strings.TrimRight(p.path, "/")
	if f.byPath == nil {
		f.byPath, f.byDirectory = map[string][]int{}, map[string][]int{}
	}
	n := len(f.all)
	f.all = append(f.all, p)
	if p.path == "" {
		return nil
	}
	overlapping = append(append(overlapping, f.byPath[p.path]...), f.byDirectory[p.path]...)
	for i := range len(p.path) {
		if p.path[i] == '/' && i > 0 {
			parent := p.path[:i]
			overlapping = append(overlapping, f.byPath[parent]...)
			f.byDirectory[parent] = append(f.byDirectory[parent], n)
		}
	}
	f.byPath[p.path] = append(f.byPath[p.path], n)
	slices.Sort(overlapping)
	return overlapping
}

// warnOverlappingPaths adds a warning for each pair of files of a volume whose paths overlap.
func warnOverlappingPaths(c *checker, volume, _ document.Value) {
	if items := volume.Lookup("configMap", "items"); items.Len() > 1 {
		c.warnVolumeOverlaps(volume, items, fmt.Sprintf("ConfigMap %q", volume.Lookup("configMap", "name").Text()))
	}
	if items := volume.Lookup("secret", "items"); items.Len() > 1 {
		c.warnVolumeOverlaps(volume, items, fmt.Sprintf("Secret %q", volume.Lookup("secret", "secretName").Text()))
	}
	if items := volume.Lookup("downwardAPI", "items"); items.Len() > 1 {
		c.warnVolumeOverlaps(volume, items, "DownwardAPI")
	}
	if sources := volume.Lookup("projected", "sources"); sources.Len() > 0 {
		c.warnProjectedOverlaps(volume, sources)
	}
}

func (c *checker) warnVolumeOverlaps(volume, items document.Value, source string) {
	var files filePaths
	for _, item := range items.Items() {
		c.warnOverlaps(volume, source, &files, filePath{path: item.Get("path").Text()})
	}
}

func (c *checker) warnOverlaps(volume document.Value, source string, files *filePaths, p filePath) {
	if c.hasMaxWarnings() {
		return // return early, to limit the time that is spent on many overlapping files
	}
	overlapping := files.add(p)
	p = files.all[len(files.all)-1]
	for _, i := range overlapping {
		if c.hasMaxWarnings() {
			return
		}
		c.addWarning(fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", volume.Get("name").Text(), source, p, files.all[i]))
	}
}

func (c *checker) warnProjectedOverlaps(volume, sources document.Value) {
	var files filePaths
	for _, source := range sources.Items() {
		if source.Len() == 0 {
			c.addWarning(fmt.Sprintf("volume %q (Projected) has no sources provided", volume.Get("name").Text()))
			continue
		}
		if sources.Len() == 1 && source.Lookup("configMap", "items").Len()+source.Lookup("secret", "items").Len()+source.Lookup("downwardAPI", "items").Len() < 2 && isAbsentOrNull(source.Get("podCertificate")) {
			return // a volume with a single file has no overlapping paths
		}
		for _, p := range projectedFiles(source) {
			c.warnOverlaps(volume, "Projected", &files, p)
		}
	}
}

// projectedFiles returns the files of one source of a projected volume.
func projectedFiles(source document.Value) (files []filePath) {
	items := func(name, of string) []filePath {
		for _, item := range source.Lookup(name, "items").Items() {
			files = append(files, filePath{item.Get("path").Text(), of})
		}
		return files
	}
	single := func(name, field, of string) {
		if path := source.Lookup(name, field).Text(); path != "" {
			files = append(files, filePath{path, of})
		}
	}
	switch {
	case !isAbsentOrNull(source.Lookup("configMap", "items")):
		return items("configMap", fmt.Sprintf("ConfigMap %q", source.Lookup("configMap", "name").Text()))
	case !isAbsentOrNull(source.Lookup("secret", "items")):
		return items("secret", fmt.Sprintf("Secret %q", source.Lookup("secret", "name").Text()))
	case !isAbsentOrNull(source.Lookup("downwardAPI", "items")):
		return items("downwardAPI", "DownwardAPI")
	case !isAbsentOrNull(source.Get("serviceAccountToken")):
		single("serviceAccountToken", "path", "ServiceAccountToken")
	case !isAbsentOrNull(source.Get("clusterTrustBundle")):
		name := source.Lookup("clusterTrustBundle", "name")
		if isAbsentOrNull(name) {
			name = source.Lookup("clusterTrustBundle", "signerName")
		}
		single("clusterTrustBundle", "path", fmt.Sprintf("ClusterTrustBundle %q", name.Text()))
	case !isAbsentOrNull(source.Get("podCertificate")):
		single("podCertificate", "certificateChainPath", "PodCertificate chain")
		single("podCertificate", "keyPath", "PodCertificate key")
		single("podCertificate", "credentialBundlePath", "PodCertificate credential bundle")
	}
	return files
}
