package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSchemaIsUpToDate(t *testing.T) {
	t.Chdir("../../..")
	want, err := generate(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("run make generate:", cmp.Diff(string(got), string(want)))
	}
}
