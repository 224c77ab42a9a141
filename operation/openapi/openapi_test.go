package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/operation/declared"
)

func TestTheDocumentIsAsTheOperationsAreDeclared(t *testing.T) {
	document, err := os.ReadFile("../../" + documentFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := replace(string(document), declared.All())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(document)); diff != "" {
		t.Error("run go generate ./operation/openapi (-declared +written):", diff)
	}
}

func TestThePageOfRightsIsAsTheOperationsAreDeclared(t *testing.T) {
	page, err := os.ReadFile("../../" + rightsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rights(declared.All()), string(page)); diff != "" {
		t.Error("run go generate ./operation/openapi (-declared +written):", diff)
	}
}

func TestADocumentWithoutItsMarksIsRefused(t *testing.T) {
	if _, err := replace("paths:\n", nil); err == nil {
		t.Error("it was written")
	}
}
