package document

import (
	"strconv"
	"strings"
)

// flowPath follows lists and maps in flow style, as in JSON, to the end of a text, and
// returns the path of what is open there. It is for errors: of a text that is not in order it
// makes the best.
func flowPath(text string) string {
	type level struct {
		isMap bool
		index int
		key   string
		start int // where the key starts
	}
	var open []level
	for i := 0; i < len(text); i++ {
		var top *level
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = quotedEnd(text, i)
		case c == '[' || c == '{':
			open = append(open, level{isMap: c == '{', start: i + 1})
		case top == nil:
		case c == ']' || c == '}':
			open = open[:len(open)-1]
		case c == ',':
			top.index++
			top.key, top.start = "", i+1
		case c == ':' && top.isMap && top.key == "":
			top.key = strings.Trim(text[top.start:i], " \t\r\n?\"'")
		}
	}
	var path strings.Builder
	for _, l := range open {
		switch {
		case !l.isMap:
			path.WriteString("[" + strconv.Itoa(l.index) + "]")
		case l.key != "":
			path.WriteString("." + l.key)
		}
	}
	return path.String()
}

// quotedEnd returns where the quoted text ends that starts at i.
func quotedEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}
