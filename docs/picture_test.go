package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// pictureFile is the SVG file of a terminal session that the README shows.
const pictureFile = "picture.svg"

// commands are the commands of the terminal session. A command without a leading dollar sign is executed but not drawn.
var commands = []string{
	`export KUBECONFIG=/tmp/demo/data/kubeconfig`,
	`shop() { echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}, data: {$1}}"; }`,
	`shop 'color: red, size: large' | cadastre apply -f - --manager alice`,
	`shop 'open: "yes", size: large' | cadastre apply -f - --manager bob --unset data.legacy`,
	`shop 'open: "yes", size: large, color: blue' >blue.yaml`,
	`$ cadastre blame configmap shop`,
	`$ cadastre apply -f blue.yaml --manager bob`,
}

// TestPicture checks that the picture shows the output of its commands. CADASTRE_UPDATE=1 makes it draw the picture again.
func TestPicture(t *testing.T) {
	s := startSession(t)
	s.run(t, "cadastre serve --data /tmp/demo/data")
	var lines []string
	for _, command := range commands {
		typed, shown := strings.CutPrefix(command, "$ ")
		printed := s.run(t, strings.Replace(typed, "cadastre blame", "cadastre blame --color always", 1))
		if shown {
			lines = append(lines, "\x1b[1m"+command+"\x1b[0m")
			lines = append(lines, alignFirstColumn(strings.Split(strings.TrimSpace(withFixedValues(printed)), "\n"))...)
			lines = append(lines, "")
		}
	}
	got := draw(lines[:len(lines)-1])
	want, err := os.ReadFile(pictureFile)
	if err == nil && got == string(want) {
		return
	}
	if !updating {
		t.Fatalf("%s differs from the output of its commands (%v): run CADASTRE_UPDATE=1 go test ./docs; want\n%s", pictureFile, err, strings.Join(lines, "\n"))
	}
	if err := os.WriteFile(pictureFile, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fixedValues are the patterns of values that differ between runs, such as times, and the texts that replace them.
var fixedValues = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-11-15T12:00:00Z"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "8e4f6966-6469-4ecd-b479-63e43af16e8a"},
	{regexp.MustCompile(`(resourceVersion: )"\d+"`), `$1"30"`},
	{regexp.MustCompile(`(Apply)  +\d+s +`), "${1}  5s     "}, // the column AGE of a table
	{regexp.MustCompile(`(Apply) \d+s`), "${1} 5s"},
}

// bar matches the first column in the output of cadastre blame, up to the vertical bar: the field manager and the age. Its width
// depends on the ages.
var bar = regexp.MustCompile("^(.*?) *((?:\x1b\\[0m)?) \\| ?")

// alignFirstColumn pads the first column of lines, the output of cadastre blame, to the width of its widest cell.
func alignFirstColumn(lines []string) []string {
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

// withFixedValues returns text with the replacements of fixedValues for times, UIDs, revisions and ages.
func withFixedValues(text string) string {
	for _, m := range fixedValues {
		text = m.pattern.ReplaceAllString(text, m.text)
	}
	return text
}

// The sizes, in pixels, and the colors of the picture.
const (
	letterWidth, lineHeight, margin = 8, 18, 16
	paper, ink                      = "#1e2430", "#d8dee9"
)

// inkColors maps the codes of terminal colors to colors of the picture.
var inkColors = map[string]string{"1": "#ffffff", "36": "#88c0d0", "33": "#ebcb8b", "35": "#b48ead", "32": "#a3be8c", "34": "#81a1c1"}

// draw returns an SVG that shows lines as a terminal would.
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

// escapes matches the escape sequences of terminal colors.
var escapes = regexp.MustCompile("\x1b\\[(\\d+)m")

// coloured converts line, a terminal line with color codes, to SVG text. It replaces spaces with non-breaking spaces, because
// SVG collapses consecutive ordinary spaces.
func coloured(line string) string {
	line = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", " ", "\u00a0").Replace(line)
	return escapes.ReplaceAllStringFunc(line, func(escape string) string {
		colour := inkColors[escapes.FindStringSubmatch(escape)[1]]
		if colour == "" {
			return "</tspan>"
		}
		return `<tspan fill="` + colour + `">`
	})
}
