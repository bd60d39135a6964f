package metrics

import (
	"bytes"
	"io"

	"github.com/prometheus/client_golang/prometheus"
)

// handshakeError is how net/http's message of a handshake that failed begins. It tells of one in no
// other way.
var handshakeError = []byte("TLS handshake error from")

// ErrorLog returns a writer for the ErrorLog of an http.Server: it counts handshakes that failed and
// passes all on.
func (m *Metrics) ErrorLog(next io.Writer) io.Writer { return errorLog{next, m.families.handshakes} }

type errorLog struct {
	next       io.Writer
	handshakes prometheus.Counter
}

// Write is called once for each message.
func (l errorLog) Write(message []byte) (int, error) {
	if bytes.Contains(message, handshakeError) {
		l.handshakes.Inc()
	}
	return l.next.Write(message)
}
