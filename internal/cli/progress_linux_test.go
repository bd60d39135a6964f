package cli

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProgressOnTerminal checks that the bar is drawn on a terminal, unless --quiet is set.
func TestProgressOnTerminal(t *testing.T) {
	terminal, screen := openTerminal(t)
	if p := newProgress(screen, true); p.enabled() {
		t.Error("newProgress(quiet).enabled() = true, want false")
	}
	p := newProgress(screen, false)
	p.start = p.start.Add(-time.Second)
	p.addTotal(2)
	p.step()
	text := make([]byte, 200)
	n, err := terminal.Read(text)
	if err != nil || n < 2 || text[0] != '\r' || text[1] != '[' {
		t.Errorf("terminal received %q, %v, want a line that starts with the bar", text[:n], err)
	}
}

// openTerminal returns the controlling and the controlled end of a pseudoterminal. It skips the test if there are none.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no terminals: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	fd := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	return terminal, screen
}
