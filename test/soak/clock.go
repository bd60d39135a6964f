package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The parts of the build with a clock that can be moved: a function for package time, and an init function for the main package.
var (
	//go:embed overlay/offset.go.txt
	offsetSource string
	//go:embed overlay/control.go.txt
	controlSource string
)

// The text of time.Now that is replaced: the readings of the wall clock and of the monotonic clock, of which only the first moves.
const (
	nowText   = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	movedText = nowText + "\tsec, nsec = moveWallClock(sec, nsec)\n"
)

// moveNow returns the source of time.go in which Now adds the offset of offsetSource.
func moveNow(source string) (string, error) {
	if strings.Count(source, nowText) != 1 {
		return "", fmt.Errorf("time.go: expected %q once; this release of Go reads the clock in another way: change nowText in test/soak/clock.go", nowText)
	}
	return strings.Replace(source, nowText, movedText, 1), nil
}

// writeOverlay writes the overlay of a build with a clock that can be moved into folder, and returns its file.
func writeOverlay(source, folder string) (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	packageTime := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	original, err := os.ReadFile(filepath.Join(packageTime, "time.go"))
	if err != nil {
		return "", err
	}
	moved, err := moveNow(string(original))
	if err != nil {
		return "", err
	}
	if source, err = filepath.Abs(source); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range map[string]string{
		filepath.Join(packageTime, "time.go"):                       moved,
		filepath.Join(packageTime, "soak_offset.go"):                offsetSource,
		filepath.Join(source, "cmd", "cadastre", "soak_control.go"): controlSource,
	} {
		replace[name] = filepath.Join(folder, filepath.Base(name))
		if err := os.WriteFile(replace[name], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}

// offsetVariable names the file with the offset of the clock in nanoseconds. The server reads it at its start and after SIGUSR2.
const offsetVariable = "CADASTRE_SOAK_CLOCK"

// movedClock is the wall clock of the server.
type movedClock struct {
	file  string
	moves bool // false if the server was built without the overlay
	jumps disturbance

	mu     sync.Mutex
	offset time.Duration
}

// The bounds of the offset. Between them the server does not renew the serving certificate, which the driver verifies with the real clock.
const (
	minOffset = -5 * 24 * time.Hour
	maxOffset = 20 * 24 * time.Hour
)

// jump moves the clock by minutes to days, and returns the distance. The server applies it soon after.
func (c *movedClock) jump(random *rand.Rand, pid int) (time.Duration, error) {
	scale := []time.Duration{time.Minute, time.Hour, 24 * time.Hour}[random.IntN(3)]
	by := (time.Duration(random.Int64N(int64(5*scale))) + scale).Round(time.Second)
	c.mu.Lock()
	if c.offset > 0 && random.IntN(2) == 0 {
		by = -by
	}
	if next := c.offset + by; next > maxOffset || next < minOffset {
		by = -c.offset
	}
	c.offset += by
	offset := c.offset
	c.mu.Unlock()
	c.jumps.begin()
	if err := os.WriteFile(c.file, fmt.Append(nil, int64(offset)), 0o600); err != nil {
		return 0, err
	}
	if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
		return 0, err
	}
	time.AfterFunc(5*time.Second, c.jumps.end) // by then the server has handled the signal
	return by, nil
}

// reading is a time of the clock.
type reading struct {
	calm calm
	at   time.Time
}

// now returns the time of the server's clock.
func (c *movedClock) now() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return reading{c.jumps.now(), time.Now().Add(c.offset)}
}

// check returns an error unless a time lies between the reading and now. Times have a precision of seconds. There is no error if the
// clock has jumped meanwhile.
func (c *movedClock) check(from reading, created time.Time) error {
	until := c.now()
	if !from.calm.lasted() || !created.Before(from.at.Add(-2*time.Second)) && !created.After(until.at.Add(2*time.Second)) {
		return nil
	}
	return fmt.Errorf("creationTimestamp: expected a time from %v to %v, received %v", from.at.UTC(), until.at.UTC(), created)
}
