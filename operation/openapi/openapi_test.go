package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/operation/declared"
)

func TestWhatIsWrittenIsAsTheOperationsAreDeclared(t *testing.T) {
	const root = "../../"
	want, err := written(root, declared.All())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(root + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s: run go generate ./operation/openapi (-declared +written): %s", name, diff)
		}
	}
}

func TestADocumentWithoutItsMarksIsRefused(t *testing.T) {
	if _, err := replace("paths:\n", nil); err == nil {
		t.Error("it was written")
	}
	if _, err := replace("paths:\n  /api/v1/rooms:\n"+begin+end+beginSchemas+endSchemas, nil); err == nil {
		t.Error("a path by hand was kept")
	}
	if _, err := busDocument("channels:\n", "", nil); err == nil {
		t.Error("that of the bus was written")
	}
}
