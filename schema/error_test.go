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
			t.Errorf("clip() of a text that starts with %d letters = %s, want a valid prefix of at most %d bytes and …", shift, clip(text), maxShown)
		}
	}
	if whole := strings.Repeat("x", maxShown); clip(whole) != whole {
		t.Errorf("clip(%s) = %s, want the text unchanged", whole, clip(whole))
	}
}
