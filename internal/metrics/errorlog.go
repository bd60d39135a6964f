package metrics

import (
	"bytes"
	"io"

	"github.com/prometheus/client_golang/prometheus"
)

// handshakeError is the text by which net/http's log message for a failed TLS handshake is recognized. net/http reports such
// failures only in its log.
var handshakeError = []byte("TLS handshake error from")

// ErrorLog returns a writer for the ErrorLog of an http.Server. It counts failed TLS handshakes and forwards all messages.
func (m *Metrics) ErrorLog(next io.Writer) io.Writer { return errorLog{next, m.families.handshakes} }

// errorLog counts failed TLS handshakes in the log messages that it forwards to next.
type errorLog struct {
	next       io.Writer
	handshakes prometheus.Counter
}

// Write implements io.Writer. log.Logger calls it once for each message.
func (l errorLog) Write(message []byte) (int, error) {
	if bytes.Contains(message, handshakeError) {
		l.handshakes.Inc()
	}
	return l.next.Write(message)
}
