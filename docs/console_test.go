package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/internal/applyconfiggen"
	"github.com/cadastre/cadastre/internal/cli"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// TestMain makes the test binary act as the program cadastre in transcripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cadastre": func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
		"applyconfig-gen": func() {
			os.Exit(applyconfiggen.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
		},
	})
}

// updating makes tests write the actual output into the pages instead of comparing it. CADASTRE_UPDATE=1 sets it.
var updating = os.Getenv("CADASTRE_UPDATE") != ""

// TestConsole executes the commands of every ```console block, page by page, and compares their output with the page. Lines
// that begin with $ are commands, and lines that begin with > continue a command. All commands of a page run in one shell;
// cadastre serve runs in the background until the end of the page. A block inside an HTML comment is setup, which the rendered
// page does not show.
//
// The address 127.0.0.1:6443 and the folder /tmp/demo of a page are replaced with a free port and a temporary folder. Times, UIDs
// and revisions may differ from the page. CADASTRE_UPDATE=1 writes the actual output into the page.
func TestConsole(t *testing.T) {
	for _, tool := range []string{"curl", "jq", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipping the transcripts: %s is not installed", tool)
		}
	}
	pages := []string{"../README.md"}
	for _, pattern := range []string{"*.md", "cli/*.md", "server/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	found := 0
	for _, name := range pages {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page := &page{name: name, lines: strings.Split(string(content), "\n")}
		if steps := page.steps(); len(steps) > 0 {
			found += len(steps)
			t.Run(strings.TrimPrefix(name, "../"), func(t *testing.T) { page.run(t, steps) })
		}
	}
	if found == 0 {
		t.Error("found no commands, want ```console blocks with lines that begin with $")
	}
}

// page is a Markdown file.
type page struct {
	name  string
	lines []string
}

// step is a command of a page.
type step struct {
	line       int // the one-based number of the command's first line
	command    string
	first, end int // the expected output is page.lines[first:end]
}

// steps returns the commands of all console blocks of a page, in order.
func (p *page) steps() []step {
	var steps []step
	inBlock := false
	for i, line := range p.lines {
		switch {
		case !inBlock:
			inBlock = line == "```console"
		case line == "```":
			inBlock = false
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, step{i + 1, line[2:], i + 1, i + 1})
		case len(steps) == 0:
		case strings.HasPrefix(line, "> ") && steps[len(steps)-1].first == i:
			last := &steps[len(steps)-1]
			last.command += "\n" + line[2:]
			last.first, last.end = i+1, i+1
		default:
			steps[len(steps)-1].end = i + 1
		}
	}
	return steps
}

// run executes the commands of a page in order and compares their outputs.
func (p *page) run(t *testing.T, steps []step) {
	t.Parallel()
	s := startSession(t)
	received := map[int]string{}
	for _, step := range steps {
		want := strings.Join(p.lines[step.first:step.end], "\n")
		got := s.run(t, step.command)
		if masked(got) == masked(want) {
			continue
		}
		received[step.line] = got
		if !updating {
			t.Errorf("%s:%d: output of $ %s\ngot:\n%s\nwant:\n%s\n(CADASTRE_UPDATE=1 go test ./docs writes the actual output into the page)",
				p.name, step.line, step.command, got, want)
		}
	}
	if updating && len(received) > 0 {
		p.update(t, steps, received)
	}
}

// update writes the page with new outputs. received maps the line of a step to its new output; the output of other steps is
// unchanged.
func (p *page) update(t *testing.T, steps []step, received map[int]string) {
	var lines []string
	done := 0
	for _, step := range steps {
		got, ok := received[step.line]
		if !ok {
			continue
		}
		lines = append(lines, p.lines[done:step.first]...)
		if got = withoutEmptyEnds(got); got != "" {
			lines = append(lines, got)
		}
		done = step.end
	}
	lines = append(lines, p.lines[done:]...)
	if err := os.WriteFile(p.name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// masks are the patterns of values that differ between runs, and their placeholders.
var masks = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`("resourceVersion": ?)"\d+"`), `$1"REVISION"`},
	{regexp.MustCompile(`(resourceVersion: )"\d+"`), `$1"REVISION"`},
	{regexp.MustCompile(`((?:Apply|Update)(?:/[a-z]+)?(?: [a-z0-9.]+/v\w+)?,? +)\d+s *`), "${1}AGE "},
	{regexp.MustCompile(`(at|after) revision \d+`), "$1 revision REVISION"},
	{regexp.MustCompile(`\d+ (objects at revision|versions and|files; move|items: )`), "N $1"},
	{regexp.MustCompile(` +\|`), " |"},
	{regexp.MustCompile(`process \d+`), "process PID"},
	{regexp.MustCompile(`(?m)^cadastre (v\S+|\(devel\)|unknown)$`), "cadastre VERSION"},
	{regexp.MustCompile(`(?m)^(commit|date|go)  +\S.*$`), "$1 VALUE"},
}

// masked returns text with placeholders for values that differ between runs, such as times, UIDs, revisions and ages.
func masked(text string) string {
	for _, mask := range masks {
		text = mask.pattern.ReplaceAllString(text, mask.text)
	}
	return withoutEmptyEnds(text)
}

// withoutEmptyEnds returns text without leading and trailing empty lines. It retains the indentation of the first line.
func withoutEmptyEnds(text string) string {
	return strings.TrimLeft(strings.TrimRight(text, " \n"), "\n")
}

// The program, address and folder in the commands of pages. A session replaces them with the test binary, the address of its
// server and a temporary folder.
const (
	shownProgram = "go run ./cmd/cadastre"
	shownAddress = "127.0.0.1:6443"
	shownFolder  = "/tmp/demo"
)

// session is a shell in a temporary folder, and the address of the server that a command of the page has started.
type session struct {
	folder, address string
	shell           io.WriteCloser
	output          *bufio.Reader
}

// startSession starts a shell, which ends with the test.
func startSession(t *testing.T) *session {
	s := &session{folder: t.TempDir(), address: shownAddress}
	// The server would log a warning about a data directory that is accessible to other users.
	if err := os.Chmod(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Dir = s.folder
	shell.Env = append(os.Environ(), "HOME="+s.folder)
	var err error
	if s.shell, err = shell.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stderr = shell.Stdout
	s.output = bufio.NewReader(output)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.shell.Close()
		_ = shell.Wait()
	})
	return s
}

// run executes command, a command of a page, and returns its output, with shownAddress and shownFolder instead of the address of
// the server and the temporary folder.
func (s *session) run(t *testing.T, command string) string {
	command = strings.NewReplacer(shownProgram, "cadastre", shownAddress, s.address, shownFolder, s.folder).Replace(command)
	var output string
	if arguments, ok := strings.CutPrefix(command, "cadastre serve"); ok && !strings.Contains(arguments, "--help") {
		output = s.serve(t, strings.Fields(arguments))
	} else {
		output = s.send(t, command)
	}
	return strings.NewReplacer(s.address, shownAddress, s.folder, shownFolder).Replace(output)
}

// endOfOutput is the line that the shell prints after each command.
const endOfOutput = "\x04\n"

// send executes command in the shell and returns its output.
func (s *session) send(t *testing.T, command string) string {
	if _, err := fmt.Fprintf(s.shell, "%s\nprintf '\\004\\n'\n", command); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		output.WriteString(strings.TrimSuffix(line, endOfOutput))
		if err != nil {
			t.Fatalf("the shell ended: %v: %s", err, output.String())
		}
		if strings.HasSuffix(line, endOfOutput) {
			return output.String()
		}
	}
}

// readyTimeout is the maximum time until a server is ready.
const readyTimeout = 30 * time.Second

// logLine matches the lines of the server's log, which examples omit.
var logLine = regexp.MustCompile(`(?m)^time=.*\n`)

// serve starts cadastre serve with arguments, and stops it at the end of the test. It returns the output of the server until
// the server is ready or, if the server fails to start, its whole output.
func (s *session) serve(t *testing.T, arguments []string) string {
	output, err := os.CreateTemp(t.TempDir(), "output")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	server := exec.Command("cadastre", append([]string{"serve", "--listen", "127.0.0.1:0"}, arguments...)...)
	server.Stdout, server.Stderr = output, output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	var content, ready []byte
	hasEnded := false
	isReadyOrEnded := func() bool {
		hasEnded = len(ended) > 0
		if content, err = os.ReadFile(output.Name()); err != nil {
			t.Fatal(err)
		}
		content = logLine.ReplaceAll(content, nil)
		// A server that is ready prints its URL in the first line, and then a hint that ends with an empty line.
		line, rest, ok := bytes.Cut(content, []byte("\n"))
		ready = line
		return hasEnded || ok && bytes.HasSuffix(rest, []byte("\n\n"))
	}
	if !testwait.Within(readyTimeout, isReadyOrEnded) {
		_ = server.Process.Kill()
		t.Fatalf("cadastre serve: not ready after %v; output: %s", readyTimeout, content)
	}
	if !hasEnded {
		s.address = strings.TrimPrefix(string(ready), "ready https://")
		t.Cleanup(func() { stopServer(t, server, ended) })
	}
	return string(content)
}

// stopServer sends SIGINT to server and waits until it has exited. It fails the test if the exit code is not 0.
func stopServer(t *testing.T, server *exec.Cmd, ended <-chan error) {
	_ = server.Process.Signal(os.Interrupt)
	if err := <-ended; err != nil {
		t.Errorf("cadastre serve exited with %v after SIGINT, want exit code 0", err)
	}
}
