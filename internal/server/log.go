package server

import (
	"bytes"
	"log/slog"
)

// logWriter takes what package http has to say about connections.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http: " + string(bytes.TrimSpace(p)))
	return len(p), nil
}
