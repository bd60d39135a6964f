// Command sbom prints the software bill of materials of a Go program as CycloneDX JSON: the modules that are linked into it,
// with versions and checksums, as the Go toolchain recorded them in the program.
//
//	sbom PROGRAM VERSION >PROGRAM.cdx.json
//
// VERSION is the version of the program, which the toolchain records only for programs installed by module path. The same program and
// version give the same output.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: sbom PROGRAM VERSION")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	info.Main.Version = args[1]
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON)
	return encoder.SetPretty(true).Encode(bill(info))
}

// bill returns the software bill of materials of the program with the given build information.
func bill(info *buildinfo.BuildInfo) *cyclonedx.BOM {
	program := component(&info.Main)
	program.Type = cyclonedx.ComponentTypeApplication
	toolchain := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	components := []cyclonedx.Component{toolchain}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, component(module))
	}
	b := cyclonedx.NewBOM()
	b.SerialNumber = ""
	b.Metadata = &cyclonedx.Metadata{Component: &program}
	b.Components = &components
	return b
}

// component returns the component for module. Its hash is the checksum in go.sum (h1), which is a SHA-256.
func component(module *debug.Module) cyclonedx.Component {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	c := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, Name: module.Path, Version: module.Version, PackageURL: url,
	}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
