package cli

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestLogLevels: --v=N logs the messages of the levels V(0) to V(N). Those of V(1) to V(3) are INFO, as with klog.
func TestLogLevels(t *testing.T) {
	for v, want := range map[int]string{0: "INFO:0", 2: "INFO:0 INFO:1 INFO:2", 3: "INFO:0 INFO:1 INFO:2 INFO:3", 4: "INFO:0 INFO:1 INFO:2 INFO:3 DEBUG:4"} {
		var text bytes.Buffer
		log, err := newLog("text", v, &text)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 6 {
			log.Log(context.Background(), slog.Level(-n), "x", "level", n)
		}
		var got []string
		for line := range strings.Lines(text.String()) {
			fields := strings.Fields(line)
			got = append(got, strings.TrimPrefix(fields[1], "level=")+":"+strings.TrimPrefix(fields[3], "level="))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--v=%d logs %v, want %s", v, got, want)
		}
	}
	for _, v := range []int{-1, 11} {
		if _, err := newLog("text", v, &bytes.Buffer{}); err == nil || !strings.HasPrefix(err.Error(), "--v: expected") {
			t.Errorf("--v=%d: error = %v", v, err)
		}
	}
}

// TestLogStart: the first message has the version, and the flags that differ from their defaults.
func TestLogStart(t *testing.T) {
	var text bytes.Buffer
	log, err := newLog("json", 0, &text)
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.String("data", "d", "")
	flags.String("listen", "l", "")
	flags.Int("v", 0, "")
	if err := flags.Parse([]string{"--data=other", "--listen=l"}); err != nil {
		t.Fatal(err)
	}
	logStart(log, flags)
	for _, want := range []string{`"msg":"starting"`, `"version":"`, `"commit":"`, `"go":"1.`, `"flags":["--data=other"]`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("log = %s, want %s", text.String(), want)
		}
	}
}
