package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

func TestTableIsUpToDate(t *testing.T) {
	c, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	want := c.text()
	file, err := os.Open("../types.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("types.txt.gz is outdated: run go generate ./internal/api/...")
	}
}

func TestDeclarationsAreUpToDate(t *testing.T) {
	c, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.declarations()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../declarative.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("declarative.txt is outdated: run go generate ./internal/api/...")
	}
}
