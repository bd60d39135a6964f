package document

import (
	"slices"
	"strings"
	"testing"

	sigs "sigs.k8s.io/yaml"
)

// TestYAMLLooksLikeKubectl checks that YAML output is byte for byte the output of kubectl -o yaml, which
// sigs.k8s.io/yaml writes.
func TestYAMLLooksLikeKubectl(t *testing.T) {
	for _, text := range []string{
		podText, `{}`, `[]`, `null`, `true`, `1`, `""`, `"a"`, `"a\nb"`, `[[]]`, `[{}]`, `[[1,[2]],[{"a":[[]]}]]`,
		`{"a":{"b":{"c":[{"d":[{"e":null}],"f":{}}]}},"g":[]}`,
		`{"data":{"script":"#!/bin/sh\nset -e\n\n  echo \"hi\"\n","trailing":"a\nb\n\n","none":"a\nb","leading":"\n a\nb\n","spaces":"  a\nb"}}`,
		`[["a\nb"],{"x":"c\nd\n"}]`,
	} {
		checkLikeKubectl(t, mustParse(t, text))
	}
	for _, s := range trickyStrings {
		if slices.Contains(notLikeKubectl, s) {
			continue
		}
		checkLikeKubectl(t, NewString(s))
		checkLikeKubectl(t, NewList(NewMap(Field{"x", NewString(s)}), NewString(s)))
		if !strings.ContainsAny(s, "\r\n") && len(s) < 1000 { // sigs.k8s.io/yaml can't encode names with line breaks or very long names
			checkLikeKubectl(t, NewMap(Field{s, NewMap(Field{"x", NewString(s)})}))
		}
	}
}

// notLikeKubectl are strings whose YAML deliberately differs from that of kubectl: kubectl can't encode them, encodes
// them to YAML that is not parsed to the same string, or folds them into several lines.
var notLikeKubectl = []string{"<<", "\u007f", "\u0085", "\u2028", "\u2029", strings.Repeat("long ", 40)}

func checkLikeKubectl(t *testing.T, v Value) {
	t.Helper()
	want, err := sigs.Marshal(v.ToGo())
	if err != nil {
		t.Fatal(err)
	}
	if got := v.YAML(); got != string(want) {
		t.Errorf("%s: YAML()\n=    %q\nwant %q", v, got, want)
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	r := newRand()
	for range 5000 {
		checkYAMLRoundTrip(t, randomValue(r, 5))
	}
	for _, text := range canonicalTexts {
		checkYAMLRoundTrip(t, mustParse(t, text))
	}
	for _, s := range trickyStrings {
		checkYAMLRoundTrip(t, NewString(s))
		checkYAMLRoundTrip(t, NewMap(Field{s, NewList(NewString(s))}))
	}
}

// checkYAMLRoundTrip checks that a value that is encoded as YAML is read back unchanged: exactly by ParseYAML, and up
// to the precision of float64 by sigs.k8s.io/yaml.
func checkYAMLRoundTrip(t *testing.T, v Value) {
	t.Helper()
	text := v.AppendYAML(nil)
	back, err := ParseYAML(text)
	if err != nil || back.JSON() != v.JSON() {
		t.Fatalf("%s\nwas encoded as\n%s\nand parsed as %s, %v", v, text, back, err)
	}
	if anyPart(v, func(v Value) bool { _, ok := v.Float64(); return v.Kind() == Number && !ok }) {
		return // sigs.k8s.io/yaml does not support numbers beyond float64
	}
	asJSON, err := sigs.YAMLToJSON(text)
	if err != nil {
		t.Fatalf("%s\nwas encoded as\n%s\nsigs.k8s.io/yaml: %v", v, text, err)
	}
	if upstream := mustParse(t, string(asJSON)); !equalAsFloats(upstream, v) {
		t.Fatalf("%s\nwas encoded as\n%s\nsigs.k8s.io/yaml returns %s", v, text, upstream)
	}
}

// TestYAMLStringsRoundTrip checks that YAML output is read back unchanged, for all strings of up to three characters
// from a set of characters with a special meaning in YAML.
func TestYAMLStringsRoundTrip(t *testing.T) {
	alphabet := []string{"", "a", "0", "-", ":", "#", " ", "\n", "\t", "'", "\"", "?", ".", "~", "<", "!", "é", "[", ",", "|", "\u2028"}
	for _, a := range alphabet {
		for _, b := range alphabet {
			for _, c := range alphabet {
				v := NewMap(Field{a + b + c, NewList(NewString(a+b+c), NewNull())}, Field{"z", NewString(c + b + a)})
				checkYAMLRoundTrip(t, v)
			}
		}
	}
}

// TestYAMLDepth checks that the indentation of deep documents does not make the output grow quadratically.
func TestYAMLDepth(t *testing.T) {
	const levels = 4000
	v := mustParse(t, strings.Repeat(`{"a":[`, levels)+`"b, c"`+strings.Repeat(`]}`, levels))
	text := v.YAML()
	if len(text) > 100*levels {
		t.Errorf("YAML of %d nested levels has %d bytes, want at most %d", levels, len(text), 100*levels)
	}
	checkYAMLRoundTrip(t, v)
}

func TestYAMLNumberSpelling(t *testing.T) {
	v := mustParse(t, `[1.0,1e3,12345678901234567890123,-0,0.10,1e999]`)
	if got, want := v.YAML(), "- 1.0\n- 1e3\n- 12345678901234567890123\n- -0\n- 0.10\n- !!float 1e999\n"; got != want {
		t.Errorf("YAML() = %q, want %q", got, want)
	}
}
