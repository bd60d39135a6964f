package metrics

import (
	"bytes"
	"io"

	"github.com/prometheus/client_golang/prometheus"
)

// handshakeError is the start of net/http's log message for a failed TLS handshake, which it reports only in its log.
var handshakeError = []byte("TLS handshake error from")

// ErrorLog returns a writer for the ErrorLog of an http.Server. It counts failed TLS handshakes and forwards all messages.
func (m *Metrics) ErrorLog(next io.Writer) io.Writer { return errorLog{next, m.families.handshakes} }

type errorLog struct {
	next       io.Writer
	handshakes prometheus.Counter
}

// Write implements io.Writer. It is called once per message.
func (l errorLog) Write(message []byte) (int, error) {
	if bytes.Contains(message, handshakeError) {
		l.handshakes.Inc()
	}
	return l.next.Write(message)
}
