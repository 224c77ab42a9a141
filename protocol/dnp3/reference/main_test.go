package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThePageOfObjectsIsCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../" + pageFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run \"make generate\": %s", diff)
	}
}
