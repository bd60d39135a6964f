package builtin

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// issuer issues the certificates of a test. The certificates are valid from now, which is truncated to seconds.
type issuer struct {
	t       *testing.T
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	now     time.Time
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{t, public, private, time.Now().UTC().Truncate(time.Second)}
}

// certificate returns a PEM-encoded certificate of a public key. change modifies the template; it can be nil.
func (i *issuer) certificate(key any, change func(*x509.Certificate)) string {
	i.t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, NotBefore: i.now, NotAfter: i.now.Add(12 * time.Hour)}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key, i.private)
	if err != nil {
		i.t.Fatal(err)
	}
	return pemText("CERTIFICATE", der)
}

// request returns a certificate request for the issuer's key, in base 64.
func (i *issuer) request() string {
	i.t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, i.private)
	if err != nil {
		i.t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

func pemText(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

// statusErrors returns the errors of a status update of a PodCertificateRequest, without the errors' values.
func statusErrors(t *testing.T, spec, status string) string {
	t.Helper()
	typ, ok := Builtin("io.k8s.api.certificates.v1.PodCertificateRequest")
	if !ok {
		t.Fatal("Builtin(PodCertificateRequest): ok = false, want true")
	}
	const metadata = `apiVersion: certificates.k8s.io/v1, kind: PodCertificateRequest, metadata: {name: a, namespace: b, uid: u, resourceVersion: "1"}`
	old := parseYAML(t, `{`+metadata+`, spec: `+spec+`, status: {}}`)
	return errorText(typ.ValidateSubresource("status", old.With("status", parseYAML(t, status)), old))
}

func errorText(errs field.ErrorList) string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Field+": "+err.Detail)
	}
	return strings.Join(lines, "; ")
}

// TestIssuedCertificate checks the status with which a signer issues a certificate. The recorded results of kube-apiserver
// contain no such status, because the certificate must be valid from the time of the request.
func TestIssuedCertificate(t *testing.T) {
	i := newIssuer(t)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spec := fmt.Sprintf(`{signerName: example.com/a, maxExpirationSeconds: 86400, stubPKCS10Request: %s}`, i.request())
	at := func(d time.Duration) string { return i.now.Add(d).Format(time.RFC3339) }
	valid := i.certificate(i.public, nil)
	for _, test := range []struct {
		name, chain                          string
		notBefore, notAfter, refresh, detail string
	}{
		{name: "valid", chain: valid},
		{name: "intermediate", chain: valid + "text\n" + valid},
		{name: "empty chain", chain: "x", detail: "status.certificateChain: issued certificate chain must contain at least one certificate"},
		{name: "long chain", chain: strings.Repeat("x", maxCertificateChain+1), detail: "status.certificateChain: may not be more than 102400 bytes"},
		{name: "key", chain: pemText("PUBLIC KEY", []byte("a")), detail: "status.certificateChain: issued certificate chain must consist entirely of CERTIFICATE PEM blocks"},
		{name: "garbage", chain: pemText("CERTIFICATE", []byte("a")), detail: "status.certificateChain: leaf certificate does not parse as valid X.509"},
		{name: "intermediate key", chain: valid + pemText("PUBLIC KEY", []byte("a")), detail: "status.certificateChain: issued certificate chain must consist entirely of CERTFICATE PEM blocks"},
		{name: "intermediate garbage", chain: valid + pemText("CERTIFICATE", []byte("a")), detail: "status.certificateChain: intermediate certificate does not parse as valid X.509"},
		{name: "another key", chain: i.certificate(&other.PublicKey, nil), detail: "status.certificateChain: leaf certificate was not issued to the requested public key"},
		{name: "names", chain: i.certificate(i.public, func(c *x509.Certificate) { c.DNSNames = []string{".a", "b..c"}; c.EmailAddresses = []string{"@"} }),
			detail: "status.certificateChain: leaf certificate's DNSName should not start or end with '.'; status.certificateChain: leaf certificate's DNSName should not contain '..'; status.certificateChain: leaf certificate should not contain invalid EmailAddress"},
		{name: "no times", chain: valid, notBefore: "null", notAfter: "null", refresh: "null",
			detail: "status.notBefore: must be present and consistent with the issued certificate; status.notAfter: must be present and consistent with the issued certificate; status.beginRefreshAt: must be present and in the range [notbefore+10min, notafter-10min]"},
		{name: "notBefore", chain: valid, notBefore: at(time.Second), detail: "status.notBefore: must be set to the NotBefore time encoded in the leaf certificate"},
		{name: "clock skew", chain: i.certificate(i.public, func(c *x509.Certificate) { c.NotBefore = i.now.Add(-6 * time.Minute) }), notBefore: at(-6 * time.Minute),
			detail: "status.notBefore: must be set to within 5 minutes of kube-apiserver's current time"},
		{name: "notAfter", chain: valid, notAfter: at(time.Second), detail: "status.notAfter: must be set to the NotAfter time encoded in the leaf certificate"},
		{name: "short", chain: i.certificate(i.public, func(c *x509.Certificate) { c.NotAfter = i.now.Add(59 * time.Minute) }), notAfter: at(59 * time.Minute),
			detail: "status.certificateChain: leaf certificate lifetime must be >= 1 hour"},
		{name: "long", chain: i.certificate(i.public, func(c *x509.Certificate) { c.NotAfter = i.now.Add(25 * time.Hour) }), notAfter: at(25 * time.Hour),
			detail: "status.certificateChain: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"},
		{name: "early refresh", chain: valid, refresh: at(9 * time.Minute), detail: "status.beginRefreshAt: must be at least 10 minutes after status.notBefore"},
		{name: "late refresh", chain: valid, refresh: at(12*time.Hour - 9*time.Minute), detail: "status.beginRefreshAt: must be at least 10 minutes before status.notAfter"},
	} {
		t.Run(test.name, func(t *testing.T) {
			or := func(text, otherwise string) string {
				if text == "" {
					return `"` + otherwise + `"`
				}
				return strings.ReplaceAll(`"`+text+`"`, `"null"`, "null")
			}
			status := fmt.Sprintf(`{conditions: [{type: Issued, status: "True", reason: R, message: m, lastTransitionTime: %q}], certificateChain: %q, notBefore: %s, notAfter: %s, beginRefreshAt: %s}`,
				at(0), test.chain, or(test.notBefore, at(0)), or(test.notAfter, at(12*time.Hour)), or(test.refresh, at(time.Hour)))
			if got := statusErrors(t, spec, status); got != test.detail {
				t.Errorf("ValidateSubresource() = %q, want %q", got, test.detail)
			}
		})
	}
	status := fmt.Sprintf(`{conditions: [{type: Issued, status: "True", reason: R, message: m, lastTransitionTime: %q}], certificateChain: %q}`, at(0), valid)
	if got, want := statusErrors(t, `{stubPKCS10Request: AAAA}`, status), "spec.stubPKCS10Request: must be a valid PKCS#10 CSR"; got != want {
		t.Errorf("ValidateSubresource() with an invalid stored request = %q, want %q", got, want)
	}
}

// TestTrustBundleSize checks the maximum length of a trust bundle, which the recorded results do not contain.
func TestTrustBundleSize(t *testing.T) {
	i := newIssuer(t)
	anchor := i.certificate(i.public, func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true })
	typ, _ := Builtin("io.k8s.api.certificates.v1.ClusterTrustBundle")
	for _, test := range []struct {
		length int
		want   string
	}{
		{maxTrustBundle, ""},
		{maxTrustBundle + 1, "spec.trustBundle: may not be more than 1048576 bytes"},
	} {
		bundle := parseYAML(t, `{apiVersion: certificates.k8s.io/v1, kind: ClusterTrustBundle, metadata: {name: a}}`)
		bundle = bundle.With("spec", document.NewMap().With("trustBundle", document.NewString(anchor+strings.Repeat("x", test.length-len(anchor)))))
		if got := errorText(typ.Validate(bundle, document.Value{})); got != test.want {
			t.Errorf("Validate() of a trust bundle of %d bytes = %q, want %q", test.length, got, test.want)
		}
	}
}
