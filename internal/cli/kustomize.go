package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// kustomizers are the programs that build a folder with kustomize. Its library is not in this binary: every
// server would have to hold it in memory.
var kustomizeCommands = [][]string{{"kubectl", "kustomize"}, {"kustomize", "build"}}

// kustomize returns the objects of a folder that has a kustomization.
func kustomize(ctx context.Context, folder string) ([]manifest, error) {
	for _, program := range kustomizeCommands {
		path, err := exec.LookPath(program[0])
		if err != nil {
			continue
		}
		var text, problem bytes.Buffer
		build := exec.CommandContext(ctx, path, append(program[1:], folder)...)
		build.Stdout, build.Stderr = &text, &problem
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("%s %s: %w: %s", strings.Join(program, " "), folder, err, firstErrorLine(problem.String()))
		}
		return appendManifests(nil, folder, &text)
	}
	return nil, errors.New("--kustomize: found neither kubectl nor kustomize, one of which has to be installed")
}

// logged is how kubectl's log begins a line.
var klogLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d`)

// problemLine is the first line that is for people.
func firstErrorLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if !klogLine.MatchString(line) {
			return line
		}
	}
	return lines[0]
}
