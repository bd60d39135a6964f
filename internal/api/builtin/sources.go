package builtin

import (
	"net"
	"regexp"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// checkProjectedPaths rejects a file path that two sources, or two items of a source, of a projected volume use.
func checkProjectedPaths(c *checker, sources, _ document.Value) {
	seen := map[string]bool{}
	visit := func(path string, shownAs string) {
		if path == "" {
			return
		}
		if seen[path] {
			c.invalid(shownAs, "conflicting duplicate paths")
		}
		seen[path] = true
	}
	for _, source := range sources.Items() {
		for _, kind := range []string{"secret", "configMap"} {
			of := source.Get(kind)
			for _, item := range of.Get("items").Items() {
				visit(item.Get("path").Text(), of.Get("name").Text())
			}
		}
		for _, item := range source.Lookup("downwardAPI", "items").Items() {
			visit(item.Get("path").Text(), item.Get("path").Text())
		}
		for _, kind := range []string{"serviceAccountToken", "clusterTrustBundle"} {
			path := source.Lookup(kind, "path").Text()
			visit(path, path)
		}
	}
}

// checkFlexOption rejects options of a FlexVolume in the reserved domains kubernetes.io and k8s.io.
func checkFlexOption(c *checker, _, _ document.Value) {
	domain, _, _ := strings.Cut(c.key(), "/")
	domain = "." + strings.ToLower(domain)
	if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
		c.invalid(c.key(), "kubernetes.io and k8s.io namespaces are reserved")
	}
}

// maxTenantLength is the maximum length of the tenant of a Quobyte volume.
const maxTenantLength = 64

func checkQuobyteRegistry(c *checker, volume, _ document.Value) {
	registry := volume.Get("registry").Text()
	if registry == "" {
		return
	}
	if len(volume.Get("tenant").Text()) > maxTenantLength {
		c.required("must be a UUID and may not exceed a length of 64 characters", "tenant")
		return
	}
	for pair := range strings.SplitSeq(registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			c.invalid(registry, "must be a host:port pair or multiple pairs separated by commas", "registry")
		}
	}
}

// iscsiNames maps the prefixes of iSCSI initiator and target names to their formats.
var iscsiNames = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
		"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
		"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
	}
})

func checkISCSIName(c *checker, value, _ document.Value) {
	text := value.Text()
	pattern := iscsiNames()[text[:min(3, len(text))]]
	if pattern == nil || !pattern.MatchString(text) {
		c.invalid(text, "must be valid format")
	}
}

// maxPortalLength is the maximum length of NAME:PORTAL, the name and the target portal of an iSCSI volume.
const maxPortalLength = 64

func checkISCSIPortalLength(c *checker, volume, _ document.Value) {
	name, portal := c.scopes[0].value.Lookup("metadata", "name").Text(), volume.Get("targetPortal").Text()
	if !isAbsentOrNull(volume.Get("initiatorName")) && len(name)+1+len(portal) > maxPortalLength {
		c.invalid(portal, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.", "targetportal")
	}
}
