package schema

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for shift := range utf8.UTFMax {
		text := strings.Repeat("x", shift) + strings.Repeat("😀", maxShown)
		got, cut := strings.CutSuffix(clip(text), "…")
		if !cut || !utf8.ValidString(got) || !strings.HasPrefix(text, got) || len(got) > maxShown || len(got) <= maxShown-utf8.UTFMax {
			t.Errorf("a text that starts with %d letters is shown as %s", shift, clip(text))
		}
	}
	if whole := strings.Repeat("x", maxShown); clip(whole) != whole {
		t.Errorf("%s is clipped to %s", whole, clip(whole))
	}
}
