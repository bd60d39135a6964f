package builtin

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

const (
	// maxCertificateChain is the maximum length of status.certificateChain of a PodCertificateRequest, in bytes.
	maxCertificateChain = 100 << 10
	// minLifetime is the minimum lifetime of an issued certificate.
	minLifetime = time.Hour
	// maxClockSkew is the maximum difference between the start of an issued certificate's validity and the server's time.
	maxClockSkew = 5 * time.Minute
	// refreshMargin is the minimum time between the start of the validity and the refresh, and between the refresh and the end
	// of the validity.
	refreshMargin = 10 * time.Minute
)

// podCertificateDecisions are the condition types with which a signer completes a PodCertificateRequest; a request has at
// most one of these conditions.
var podCertificateDecisions = []string{"Issued", "Denied", "Failed"}

// checkPodCertificateStatus validates an update of a PodCertificateRequest's status. The status changes once, when the signer issues
// the certificate, or denies or fails the request.
func checkPodCertificateStatus(c *checker, value, old document.Value) {
	if len(c.errs) > 0 {
		return
	}
	status, oldStatus := value.Get("status"), old.Get("status")
	c.push("status")
	defer c.pop()
	c.podCertificateConditions(status.Get("conditions"))
	if len(c.errs) > 0 {
		return
	}
	t, _ := c.kind.Lookup("status")
	decided := func(s document.Value, types ...string) bool {
		for _, condition := range s.Get("conditions").Items() {
			if condition.Get("status").Text() == "True" && slices.Contains(types, condition.Get("type").Text()) {
				return true
			}
		}
		return false
	}
	switch {
	case decided(oldStatus, podCertificateDecisions...):
		if !semanticEqual(t, false, status, oldStatus) {
			c.invalid(field.OmitValueType{}, "immutable after PodCertificateRequest is issued, denied, or failed")
		}
	case decided(status, "Denied", "Failed"):
		if !equalExcept(t, status, document.Value{}, []string{"conditions"}) {
			c.invalid(field.OmitValueType{}, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
		}
	case decided(status, "Issued"):
		i := issuedCertificate{checker: c, spec: old.Get("spec"), status: status, chain: status.Get("certificateChain").Text()}
		i.validate(time.Now())
	case !semanticEqual(t, false, status, oldStatus):
		c.invalid(field.OmitValueType{}, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	}
}

// podCertificateConditions requires at most one condition, with status True, whose type is in podCertificateDecisions. The
// paths of its errors, such as status.conditions.[0].type, are those of kube-apiserver.
func (c *checker) podCertificateConditions(conditions document.Value) {
	n := 0
	for i, condition := range conditions.Items() {
		item := fmt.Sprintf("[%d]", i)
		name, status := condition.Get("type").Text(), condition.Get("status").Text()
		if !slices.Contains(podCertificateDecisions, name) {
			c.unsupported(name, podCertificateDecisions, "conditions", item, "type")
			continue
		}
		if n++; n > 1 {
			c.invalid(name, `There may be at most one condition with type "Issued", "Denied", or "Failed"`, "conditions", item, "type")
		}
		if status != "True" {
			c.unsupported(status, []string{"True"}, "conditions", item, "status")
		}
	}
	c.push("conditions")
	c.checkItems(conditions, -1, c.blocks["Condition"], "")
	c.pop()
}

// issuedCertificate validates the status with which a signer issues a certificate, at the path status. Validation ends at the
// first error, except for the names in the certificate and for missing timestamps.
type issuedCertificate struct {
	*checker
	spec, status document.Value
	chain        string
}

func (i *issuedCertificate) validate(now time.Time) {
	const path = "certificateChain"
	if len(i.chain) > maxCertificateChain {
		i.tooLong(maxCertificateChain, path)
		return
	}
	leaf, rest, problem := leafCertificate(i.chain)
	if problem != "" {
		i.invalid(i.chain, problem, path)
		return
	}
	i.names(leaf)
	content, err := base64.StdEncoding.DecodeString(i.spec.Get("stubPKCS10Request").Text())
	var request *x509.CertificateRequest
	if err == nil {
		request, err = x509.ParseCertificateRequest(content)
	}
	if err != nil {
		i.errs = append(i.errs, field.Invalid(field.NewPath("spec", "stubPKCS10Request"), field.OmitValueType{}, invalidCertificateRequestData))
		return
	}
	if key, ok := request.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); ok && !key.Equal(leaf.PublicKey) {
		i.invalid(i.chain, "leaf certificate was not issued to the requested public key", path)
		return
	}
	if i.times(leaf, now) {
		i.intermediates(rest)
	}
}

// leafCertificate returns the first certificate of a chain and the rest of the chain, or the error's detail.
func leafCertificate(chain string) (leaf *x509.Certificate, rest []byte, problem string) {
	block, rest := pem.Decode([]byte(chain))
	if block == nil {
		return nil, nil, "issued certificate chain must contain at least one certificate"
	}
	if block.Type != "CERTIFICATE" {
		return nil, nil, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, "leaf certificate does not parse as valid X.509"
	}
	return leaf, rest, ""
}

// names validates the DNS names and email addresses of the issued certificate.
func (i *issuedCertificate) names(leaf *x509.Certificate) {
	const path = "certificateChain"
	for _, name := range leaf.DNSNames {
		if name == "" {
			i.invalid(name, "leaf certificate should not contain empty DNSName", path)
		}
		if strings.Contains(name, "..") {
			i.invalid(name, "leaf certificate's DNSName should not contain '..'", path)
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			i.invalid(name, "leaf certificate's DNSName should not start or end with '.'", path)
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			i.invalid(address, "leaf certificate should not contain invalid EmailAddress", path)
		}
	}
}

// times validates the timestamps of the status and the lifetime of the issued certificate. It reports whether no error has been
// found so far.
func (i *issuedCertificate) times(leaf *x509.Certificate, now time.Time) bool {
	for _, t := range [...]struct{ name, detail string }{
		{"notBefore", "must be present and consistent with the issued certificate"},
		{"notAfter", "must be present and consistent with the issued certificate"},
		{"beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"},
	} {
		if isEmpty(i.status.Get(t.name)) {
			i.required(t.detail, t.name)
		}
	}
	if len(i.errs) > 0 {
		return false
	}
	from, until, refresh := timeOf(i.status.Get("notBefore")), timeOf(i.status.Get("notAfter")), timeOf(i.status.Get("beginRefreshAt"))
	lifetime := leaf.NotAfter.Sub(leaf.NotBefore)
	maximum := intValue(i.spec.Get("maxExpirationSeconds"))
	switch {
	case !from.Equal(leaf.NotBefore):
		i.invalid(from, "must be set to the NotBefore time encoded in the leaf certificate", "notBefore")
	case !from.After(now.Add(-maxClockSkew)) || !from.Before(now.Add(maxClockSkew)):
		i.invalid(from, "must be set to within 5 minutes of kube-apiserver's current time", "notBefore")
	case !until.Equal(leaf.NotAfter):
		i.invalid(until, "must be set to the NotAfter time encoded in the leaf certificate", "notAfter")
	case lifetime < minLifetime:
		i.invalid(lifetime, "leaf certificate lifetime must be >= 1 hour", "certificateChain")
	case lifetime > time.Duration(maximum)*time.Second:
		i.invalid(lifetime, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%d)", maximum), "certificateChain")
	case refresh.Before(from.Add(refreshMargin)):
		i.invalid(refresh, "must be at least 10 minutes after status.notBefore", "beginRefreshAt")
	case refresh.After(until.Add(-refreshMargin)):
		i.invalid(refresh, "must be at least 10 minutes before status.notAfter", "beginRefreshAt")
	}
	return len(i.errs) == 0
}

// timeOf returns a timestamp as kube-apiserver decodes it, in the server's time zone; the zero time if it is invalid.
func timeOf(v document.Value) time.Time {
	t, err := time.Parse(time.RFC3339, v.Text())
	if err != nil {
		return time.Time{}
	}
	return t.Local()
}

// intermediates requires that the rest of the chain consists of certificates.
func (i *issuedCertificate) intermediates(rest []byte) {
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return
		}
		problem := ""
		if block.Type != "CERTIFICATE" {
			problem = "issued certificate chain must consist entirely of CERTFICATE PEM blocks" // spelled as in kube-apiserver
		} else if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			problem = "intermediate certificate does not parse as valid X.509"
		}
		if problem != "" {
			i.invalid(i.chain, problem, "certificateChain")
			return
		}
	}
}
