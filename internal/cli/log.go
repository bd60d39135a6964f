package cli

import (
	"fmt"
	"io"
	"log/slog"
)

// newLog returns a logger that writes to w in a format of --log-format, text or json.
func newLog(format string, w io.Writer) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	}
	return nil, fmt.Errorf("--log-format: expected text or json, received %q", format)
}
