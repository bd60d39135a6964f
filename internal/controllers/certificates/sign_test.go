package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// newCA returns an authority whose certificate expires at a given time.
func newCA(t *testing.T, now, end time.Time) *CA {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-time.Hour), NotAfter: end, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &CA{certificate, key}
}

// newRequest returns a certificate request as PEM.
func newRequest(t *testing.T, template *x509.CertificateRequest) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// TestSign checks that a certificate is a leaf without the extensions of the request, and its lifetime.
func TestSign(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	ca := newCA(t, now, now.Add(100*time.Hour))
	basicConstraints, err := asn1.Marshal(struct {
		IsCA bool `asn1:"optional"`
	}{true})
	if err != nil {
		t.Fatal(err)
	}
	text := newRequest(t, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "alice", Organization: []string{"team"}}, DNSNames: []string{"a.example.com"},
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Critical: true, Value: basicConstraints}},
	})
	request, err := parseRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	seconds := func(d time.Duration) *int32 { n := int32(d / time.Second); return &n }
	for _, test := range []struct {
		requested *int32
		maximum   time.Duration
		want      time.Duration
	}{
		{nil, time.Hour, time.Hour},
		{nil, 24 * time.Hour, 24*time.Hour - backdate}, // long lifetimes are backdated
		{seconds(20 * time.Minute), time.Hour, 20 * time.Minute},
		{seconds(time.Second), time.Hour, minDuration},
		{seconds(-time.Hour), time.Hour, minDuration},
		{seconds(500 * time.Hour), time.Hour, time.Hour},
		{nil, 1000 * time.Hour, 100 * time.Hour}, // not longer than the CA certificate
	} {
		signed, err := ca.sign(request, []certificatesv1.KeyUsage{"client auth", "digital signature"}, duration(test.requested, test.maximum), now)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(signed)
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.NotAfter.Sub(now); got != test.want || !c.NotBefore.Equal(now.Add(-backdate).UTC()) {
			t.Errorf("lifetime for %v of at most %v = %v from %v, want %v from %v", test.requested, test.maximum, got, c.NotBefore, test.want, now.Add(-backdate))
		}
		if c.IsCA || c.Subject.CommonName != "alice" || len(c.DNSNames) != 1 || c.CheckSignatureFrom(ca.Certificate) != nil {
			t.Errorf("certificate = %+v, want a leaf of the authority for alice and a.example.com", c)
		}
	}
	if _, err := newCA(t, now, now.Add(-time.Minute)).sign(request, nil, time.Hour, now); err == nil {
		t.Error("sign() with an expired CA = nil, want an error")
	}
}

// TestChecks checks which requests the signers accept, with the messages of Kubernetes.
func TestChecks(t *testing.T) {
	const client, kubelet = certificatesv1.KubeAPIServerClientSignerName, certificatesv1.KubeAPIServerClientKubeletSignerName
	node := pkix.Name{CommonName: "system:node:n1", Organization: []string{"system:nodes"}}
	usages := []certificatesv1.KeyUsage{"client auth", "digital signature"}
	for name, test := range map[string]struct {
		signer  string
		request x509.CertificateRequest
		usages  []certificatesv1.KeyUsage
		want    string
	}{
		"client":                 {client, x509.CertificateRequest{}, usages, ""},
		"client with encryption": {client, x509.CertificateRequest{}, append(usages, "key encipherment"), ""},
		"signing of others":      {client, x509.CertificateRequest{}, append(usages, "cert sign"), "invalid usage for client certificate: cert sign"},
		"no client":              {client, x509.CertificateRequest{}, usages[1:], "missing required usage for client certificate: client auth"},
		"kubelet":                {kubelet, x509.CertificateRequest{Subject: node}, usages, ""},
		"kubelet, encryption":    {kubelet, x509.CertificateRequest{Subject: node}, []certificatesv1.KeyUsage{"key encipherment", "client auth", "digital signature"}, ""},
		"kubelet, other usages":  {kubelet, x509.CertificateRequest{Subject: node}, usages[:1], "usages did not match [client auth digital signature key encipherment]"},
		"kubelet with a name":    {kubelet, x509.CertificateRequest{Subject: node, DNSNames: []string{"x"}}, usages, "DNS subjectAltNames are not allowed"},
		"kubelet with an IP":     {kubelet, x509.CertificateRequest{Subject: node, IPAddresses: []net.IP{net.IPv4zero}}, usages, "IP subjectAltNames are not allowed"},
		"two groups":             {kubelet, x509.CertificateRequest{Subject: pkix.Name{CommonName: node.CommonName, Organization: []string{"system:nodes", "system:masters"}}}, usages, "subject organization is not system:nodes"},
		"not a node":             {kubelet, x509.CertificateRequest{Subject: pkix.Name{CommonName: "n1", Organization: node.Organization}}, usages, "subject common name does not begin with system:node:"},
	} {
		got := ""
		if err := signers[test.signer](&test.request, test.usages); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: error = %q, want %q", name, got, test.want)
		}
	}
}

// TestParseRequest checks that a request is rejected if it is not PEM, or if its sender does not have the key.
func TestParseRequest(t *testing.T) {
	good := newRequest(t, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "alice"}})
	if _, err := parseRequest(good); err != nil {
		t.Error(err)
	}
	block, _ := pem.Decode(good)
	block.Bytes[len(block.Bytes)-1] ^= 1
	for name, text := range map[string][]byte{"empty": nil, "another type": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}), "signature": pem.EncodeToMemory(block)} {
		if _, err := parseRequest(text); err == nil {
			t.Errorf("%s: parseRequest() = nil, want an error", name)
		}
	}
}
