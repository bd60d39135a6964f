package authn

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func open(t testing.TB, o Options) *Authority {
	t.Helper()
	a, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// servedCertificate returns the serving certificate of a new TLS handshake.
func servedCertificate(t testing.TB, a *Authority) *x509.Certificate {
	t.Helper()
	c, err := a.TLS().GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf
}

func TestAuthorityPersists(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "certificates")
	first := open(t, Options{Folder: folder})
	second := open(t, Options{Folder: folder})
	if string(first.CA()) != string(second.CA()) {
		t.Error("the CA certificate was replaced when the folder was opened again, want it unchanged")
	}
	cert1, key1 := first.Admin()
	cert2, key2 := second.Admin()
	if string(cert1) != string(cert2) || string(key1) != string(key2) {
		t.Error("the administrator's certificate was replaced when the folder was opened again, want it unchanged")
	}
	if !servedCertificate(t, first).Equal(servedCertificate(t, second)) {
		t.Error("the serving certificate was replaced when the folder was opened again, want it unchanged")
	}
}

func TestFilePermissions(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "certificates")
	open(t, Options{Folder: folder})
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory mode = %v, %v, want 0700", info.Mode(), err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 4 {
		t.Fatalf("files in the folder: received %v, error %v, want 4 files", files, err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode = %v, error %v, want 0600", file.Name(), info.Mode(), err)
		}
	}
}

func TestServingCertificate(t *testing.T) {
	leaf := servedCertificate(t, open(t, Options{Hosts: []string{"cadastre.example.org", "192.0.2.7", "127.0.0.1", ""}}))
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "cadastre.example.org", "192.0.2.7"} {
		if err := leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if leaf.VerifyHostname("192.0.2.8") == nil {
		t.Error("the serving certificate is valid for 192.0.2.8, want an error, because the host is not configured")
	}
}

func TestUnspecifiedAddress(t *testing.T) {
	leaf := servedCertificate(t, open(t, Options{Hosts: []string{"0.0.0.0"}}))
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range addresses {
		if err := leaf.VerifyHostname(a.(*net.IPNet).IP.String()); err != nil {
			t.Error(err)
		}
	}
}

func TestRenewalAfterHostChange(t *testing.T) {
	folder := t.TempDir()
	before := open(t, Options{Folder: folder})
	after := open(t, Options{Folder: folder, Hosts: []string{"192.0.2.7"}})
	if err := servedCertificate(t, after).VerifyHostname("192.0.2.7"); err != nil {
		t.Error(err)
	}
	if string(before.CA()) != string(after.CA()) {
		t.Error("the CA certificate was replaced after a change of hosts, want it unchanged")
	}
}

func TestRenewal(t *testing.T) {
	for _, test := range []struct {
		name    string
		after   time.Duration
		renewed bool
	}{
		{"new", time.Hour, false},
		{"half", leafLifetime / 2, false},
		{"last third", leafLifetime * 3 / 4, true},
		{"expired", leafLifetime * 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder, start := t.TempDir(), time.Now()
			first := open(t, Options{Folder: folder})
			now := start.Add(test.after)
			second := open(t, Options{Folder: folder, Now: func() time.Time { return now }})
			if got := !servedCertificate(t, first).Equal(servedCertificate(t, second)); got != test.renewed {
				t.Errorf("the serving certificate was renewed: got %v, want %v", got, test.renewed)
			}
			if got := first.admin.certificate.Equal(second.admin.certificate); got == test.renewed {
				t.Errorf("the administrator's certificate was kept: got %v, want %v", got, !test.renewed)
			}
			if servedCertificate(t, second).NotAfter.Before(now) {
				t.Error("the serving certificate is expired, want a valid one")
			}
		})
	}
}

func TestRenewalWhileServing(t *testing.T) {
	now := time.Now()
	a := open(t, Options{Folder: t.TempDir(), Now: func() time.Time { return now }})
	first := servedCertificate(t, a)
	now = now.Add(leafLifetime / 2)
	if !servedCertificate(t, a).Equal(first) {
		t.Error("the serving certificate was renewed at half of its lifetime, want it unchanged")
	}
	now = now.Add(leafLifetime / 3)
	if servedCertificate(t, a).Equal(first) {
		t.Error("the serving certificate was not renewed in the last third of its lifetime")
	}
}

func TestLeafExpiresWithAuthority(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	open(t, Options{Folder: folder, Now: clock})
	now = now.Add(caLifetime - time.Hour)
	a := open(t, Options{Folder: folder, Now: clock})
	if leaf := servedCertificate(t, a); leaf.NotAfter.After(a.ca.certificate.NotAfter) {
		t.Errorf("NotAfter of the certificate = %v, want that of the authority, %v", leaf.NotAfter, a.ca.certificate.NotAfter)
	}
	now = now.Add(2 * time.Hour)
	if _, err := Open(Options{Folder: folder, Now: clock}); err == nil || !strings.Contains(err.Error(), "ca.crt: expired") {
		t.Errorf("Open() with an expired CA = %v, want an error that ca.crt is expired", err)
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(folder string) error
		want   []string
	}{
		{"authority cut off", cut(caCertFile), []string{"ca.crt", "damaged", "delete both"}},
		{"authority's key cut off", cut(caKeyFile), []string{"ca.key", "damaged", "delete both"}},
		{"authority's key missing", missing(caKeyFile), []string{"ca.key: the key of", "restore it"}},
		{"authority empty", empty(caCertFile), []string{"ca.crt", "delete both"}},
		{"server cut off", cut(servingFile), []string{"server.pem: damaged", "delete it"}},
		{"server empty", empty(servingFile), []string{"server.pem: damaged", "delete it"}},
		{"administrator cut off", cut(adminFile), []string{"admin.pem: damaged", "delete it"}},
		{"key alone, cut off", both(missing(caCertFile), cut(caKeyFile)), []string{"ca.key: damaged"}},
		{"another's key", otherKey, []string{"ca.crt", "expected a certificate and its key"}},
		{"not an authority", notCA, []string{"ca.crt", "may not sign others"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			open(t, Options{Folder: folder})
			if err := test.damage(folder); err != nil {
				t.Fatal(err)
			}
			_, err := Open(Options{Folder: folder})
			if err == nil {
				t.Fatal("Open() with damaged files: received no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Open() = %[2]v, want an error with %[1]q", want, err)
				}
			}
			if strings.Contains(err.Error(), "MIG") { // the PEM encoding of each private key of this test begins with MIG
				t.Errorf("the error contains a key: %v", err)
			}
		})
	}
}

func cut(name string) func(string) error {
	return func(folder string) error {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), content[:len(content)/2], 0o600)
	}
}

func empty(name string) func(string) error {
	return func(folder string) error { return os.Truncate(filepath.Join(folder, name), 0) }
}

func missing(name string) func(string) error {
	return func(folder string) error { return os.Remove(filepath.Join(folder, name)) }
}

func both(first, second func(string) error) func(string) error {
	return func(folder string) error {
		if err := first(folder); err != nil {
			return err
		}
		return second(folder)
	}
}

func otherKey(folder string) error {
	other, err := Open(Options{})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, caKeyFile), other.ca.keyPEM, 0o600)
}

func notCA(folder string) error {
	other, err := Open(Options{})
	if err != nil {
		return err
	}
	cert, key := other.Admin()
	if err := os.WriteFile(filepath.Join(folder, caCertFile), cert, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, caKeyFile), key, 0o600)
}

// TestMissingFiles checks that a missing CA certificate, serving certificate or administrator's certificate is created
// again, and that certificates signed earlier stay valid.
func TestMissingFiles(t *testing.T) {
	for _, name := range []string{caCertFile, servingFile, adminFile} {
		folder := t.TempDir()
		first := open(t, Options{Folder: folder})
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		second := open(t, Options{Folder: folder})
		pool := x509.NewCertPool()
		pool.AddCert(second.ca.certificate)
		if _, err := first.admin.certificate.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			t.Errorf("without %s: the administrator's certificate that was signed earlier is invalid: %v", name, err)
		}
	}
}

// TestReplacedAuthority checks that the serving certificate is renewed if the CA certificate and key in the directory were
// replaced with those of another authority.
func TestReplacedAuthority(t *testing.T) {
	folder := t.TempDir()
	open(t, Options{Folder: folder})
	other := open(t, Options{})
	for name, content := range map[string][]byte{caCertFile: other.ca.certPEM, caKeyFile: other.ca.keyPEM} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := servedCertificate(t, open(t, Options{Folder: folder})).CheckSignatureFrom(other.ca.certificate); err != nil {
		t.Errorf("serving certificate is not signed by the new CA: %v", err)
	}
}

func TestInvalidFiles(t *testing.T) {
	folder := t.TempDir()
	rubbish := filepath.Join(folder, "rubbish.pem")
	if err := os.WriteFile(rubbish, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{ClientCAFile: rubbish}, "rubbish.pem: the file must contain certificates"},
		{Options{ClientCAFile: filepath.Join(folder, "none")}, "none"},
		{Options{CertFile: rubbish}, "set both or none"},
		{Options{CertFile: rubbish, KeyFile: rubbish}, "rubbish.pem"},
		{Options{Folder: rubbish}, "rubbish.pem"},
	} {
		if _, err := Open(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Open(%+v) = %v, want an error with %q", test.options, err, test.want)
		}
	}
}

func TestPEM(t *testing.T) {
	cert, key := open(t, Options{}).Admin()
	for text, want := range map[string]string{string(cert): "CERTIFICATE", string(key): "PRIVATE KEY"} {
		if block, rest := pem.Decode([]byte(text)); block == nil || block.Type != want || len(rest) > 0 {
			t.Errorf("Admin() = %s, want exactly one PEM block %s", text, want)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			open(b, Options{})
		}
	})
	b.Run("new folder", func(b *testing.B) {
		for b.Loop() {
			open(b, Options{Folder: b.TempDir()})
		}
	})
	b.Run("old folder", func(b *testing.B) {
		folder := b.TempDir()
		for b.Loop() {
			open(b, Options{Folder: folder})
		}
	})
}
