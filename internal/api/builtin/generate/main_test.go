package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

func TestTableIsUpToDate(t *testing.T) {
	want, err := table()
	if err != nil {
		t.Fatal(err)
	}
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
