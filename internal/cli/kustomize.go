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

// kustomizeCommands are the commands that can build a kustomization, in order of preference. The kustomize library is not
// linked, because it would increase the resident memory of every server.
var kustomizeCommands = [][]string{{"kubectl", "kustomize"}, {"kustomize", "build"}}

// kustomize returns the objects of the kustomization in folder, which it builds with an external command.
func kustomize(ctx context.Context, folder string) ([]manifest, error) {
	for _, program := range kustomizeCommands {
		path, err := exec.LookPath(program[0])
		if err != nil {
			continue
		}
		var text, stderr bytes.Buffer
		build := exec.CommandContext(ctx, path, append(program[1:], folder)...)
		build.Stdout, build.Stderr = &text, &stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("%s %s: %w: %s", strings.Join(program, " "), folder, err, firstErrorLine(stderr.String()))
		}
		return appendManifests(nil, folder, &text)
	}
	return nil, errors.New("--kustomize: expected kubectl or kustomize in the PATH, found neither")
}

// klogLine matches the beginning of a log line in klog's format.
var klogLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d`)

// firstErrorLine returns the first line of text that is not a log line in klog's format or, if all are, the first line.
func firstErrorLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if !klogLine.MatchString(line) {
			return line
		}
	}
	return lines[0]
}
