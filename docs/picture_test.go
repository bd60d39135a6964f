package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// picture is the one of the README: what a terminal shows.
const picture = "picture.svg"

// scene is what is typed for it. Lines without a dollar sign are not shown.
var scene = []string{
	`export KUBECONFIG=/tmp/demo/data/kubeconfig`,
	`shop() { echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}, data: {$1}}"; }`,
	`shop 'color: red, size: large' | cadastre apply -f - --manager alice`,
	`shop 'open: "yes", size: large' | cadastre apply -f - --manager bob --unset data.legacy`,
	`shop 'open: "yes", size: large, color: blue' >blue.yaml`,
	`$ cadastre blame configmap shop`,
	`$ cadastre apply -f blue.yaml --manager bob`,
}

// TestPicture has the commands of the picture run, and draws what they print. CADASTRE_UPDATE=1 writes it.
func TestPicture(t *testing.T) {
	s := startSession(t)
	s.run(t, "cadastre serve --data /tmp/demo/data")
	var lines []string
	for _, command := range scene {
		typed, shown := strings.CutPrefix(command, "$ ")
		printed := s.run(t, strings.Replace(typed, "cadastre blame", "cadastre blame --color always", 1))
		if shown {
			lines = append(lines, "\x1b[1m"+command+"\x1b[0m")
			lines = append(lines, aligned(strings.Split(strings.TrimSpace(still(printed)), "\n"))...)
			lines = append(lines, "")
		}
	}
	got := draw(lines[:len(lines)-1])
	want, err := os.ReadFile(picture)
	if err == nil && got == string(want) {
		return
	}
	if !updating {
		t.Fatalf("%s is not what the commands print: %v; CADASTRE_UPDATE=1 go test ./docs writes it; received\n%s", picture, err, strings.Join(lines, "\n"))
	}
	if err := os.WriteFile(picture, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// moving is what differs from run to run, and what is drawn instead.
var moving = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-11-15T12:00:00Z"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "8e4f6966-6469-4ecd-b479-63e43af16e8a"},
	{regexp.MustCompile(`(resourceVersion: )"\d+"`), `$1"30"`},
	{regexp.MustCompile(`(Apply)  +\d+s +`), "${1}  5s     "}, // in a table
	{regexp.MustCompile(`(Apply) \d+s`), "${1} 5s"},
}

// bar is what divides owners from lines: they are as wide as the widest, whose age may have more letters.
var bar = regexp.MustCompile("^(.*?) *((?:\x1b\\[0m)?) \\| ?")

func aligned(lines []string) []string {
	width := 0
	for _, line := range lines {
		if parts := bar.FindStringSubmatch(line); parts != nil {
			width = max(width, len(escapes.ReplaceAllString(parts[1], "")))
		}
	}
	for i, line := range lines {
		if parts := bar.FindStringSubmatch(line); parts != nil {
			room := strings.Repeat(" ", width-len(escapes.ReplaceAllString(parts[1], "")))
			lines[i] = strings.TrimRight(parts[1]+room+parts[2]+" | "+line[len(parts[0]):], " ")
		}
	}
	return lines
}

// still returns text without what differs from run to run.
func still(text string) string {
	for _, m := range moving {
		text = m.pattern.ReplaceAllString(text, m.text)
	}
	return text
}

// Sizes in pixels, and colours.
const (
	letterWidth, lineHeight, margin = 8, 18, 16
	paper, ink                      = "#1e2430", "#d8dee9"
)

var inks = map[string]string{"1": "#ffffff", "36": "#88c0d0", "33": "#ebcb8b", "35": "#b48ead", "32": "#a3be8c", "34": "#81a1c1"}

// draw draws lines of a terminal.
func draw(lines []string) string {
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(escapes.ReplaceAllString(line, "")))
	}
	width, height := widest*letterWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>cadastre blame, and a conflict</title>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"%s\"/>\n", width, height, paper)
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="%s" xml:space="preserve">`+"\n", ink)
	for i, line := range lines {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+13+i*lineHeight, coloured(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// escapes are what terminals take for colours.
var escapes = regexp.MustCompile("\x1b\\[(\\d+)m")

// coloured makes a line text of SVG. Spaces would be joined but for their name.
func coloured(line string) string {
	line = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", " ", "\u00a0").Replace(line)
	return escapes.ReplaceAllStringFunc(line, func(escape string) string {
		colour := inks[escapes.FindStringSubmatch(escape)[1]]
		if colour == "" {
			return "</tspan>"
		}
		return `<tspan fill="` + colour + `">`
	})
}
