package builtin

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// maxTrustBundle is the maximum length of a ClusterTrustBundle's PEM data, in bytes.
const maxTrustBundle = 1 << 20

// checkTrustBundleMeta validates the metadata of a ClusterTrustBundle, on update too: the name of a bundle with a signer consists of
// the signer's name, with a colon instead of the slash, another colon, and a DNS subdomain.
func checkTrustBundleMeta(c *checker, meta, _ document.Value) {
	c.checkCreatedMeta(meta, trustBundleNames(c.scopes[0].value.Lookup("spec", "signerName").Text()))
	c.checkFinalizerKinds(meta)
}

// trustBundleNames returns the format of the names of a signer's bundles; if signer is "", of bundles without a signer.
func trustBundleNames(signer string) nameFormat {
	prefix := strings.ReplaceAll(signer, "/", ":") + ":"
	within := func(f format) format {
		return format{problems: func(name string) []string {
			switch {
			case signer != "" && !strings.HasPrefix(name, prefix):
				return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, prefix)}
			case signer != "":
				return f.check(strings.TrimPrefix(name, prefix))
			case strings.Contains(name, ":"):
				return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
			}
			return f.check(name)
		}}
	}
	subdomain := nameFormats["dns-subdomain"]
	return nameFormat{within(subdomain.name), within(subdomain.prefix), false}
}

// checkTrustBundle requires at least one PEM-encoded CA certificate, no other PEM blocks, no PEM headers and no duplicates.
func checkTrustBundle(c *checker, value, _ document.Value) {
	const omitted = "<value omitted>"
	text := value.Text()
	if len(text) > maxTrustBundle {
		c.tooLong(maxTrustBundle)
		return
	}
	before := len(c.errs)
	indexes := map[string][]int{}
	var order []string
	rest := []byte(text)
	for i := 0; ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if problem := anchorProblem(block); problem != "" {
			c.invalid(omitted, fmt.Sprintf("entry %d %s", i, problem))
			continue
		}
		der := string(block.Bytes)
		if indexes[der] == nil {
			order = append(order, der)
		}
		indexes[der] = append(indexes[der], i)
	}
	if len(c.errs) > before {
		return
	}
	if len(order) == 0 {
		c.invalid(omitted, "at least one trust anchor must be provided")
	}
	for _, der := range order {
		if same := indexes[der]; len(same) > 1 {
			c.invalid(omitted, fmt.Sprintf("duplicate trust anchor (indices %v)", same))
		}
	}
}

// anchorProblem returns the reason why a PEM block is not a trust anchor; "" if it is a trust anchor.
func anchorProblem(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !certificate.IsCA:
		return "does not have the CA bit set"
	case !certificate.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
