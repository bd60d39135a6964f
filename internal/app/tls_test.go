package app

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestTLSOnly checks that connections without TLS are rejected with a message, and that connections with TLS 1.1 or older are
// rejected.
func TestTLSOnly(t *testing.T) {
	c := start(t, Config{}, `secret-token,alice,1,"system:masters"`)
	address := strings.TrimPrefix(c.url, "https://")
	for what, header := range map[string]string{"anonymous": "", "with a token": "Authorization: Bearer secret-token\r\n"} {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := connection.Write([]byte("GET /version HTTP/1.1\r\nHost: x\r\n" + header + "\r\n")); err != nil {
			t.Fatal(err)
		}
		_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
		received, err := io.ReadAll(connection) // reads until the server closes the connection
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if want := "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"; string(received) != want {
			t.Errorf("%s: received %q, want %q", what, received, want)
		}
	}
	c.waitFor("/metrics", 200, "apiserver_tls_handshake_errors_total 2") // the server counts a failed handshake after it has closed the connection

	for version, works := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if works != (err == nil) {
			t.Errorf("handshake with %s: received error %v, want success: %v", tls.VersionName(version), err, works)
		}
		if err == nil {
			connection.Close()
		}
	}
	if _, err := tls.Dial("tcp", address, &tls.Config{}); err == nil {
		t.Error("a client without the server's CA accepted its certificate, want an error")
	}
}
