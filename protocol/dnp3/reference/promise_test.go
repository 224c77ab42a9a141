package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOfPromisesNamesTestsThatExist holds docs/reference/dnp3-conformance.md to the tests
// and cases that it names.
func TestThePageOfPromisesNamesTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "dnp3-conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"protocol/dnp3/*_test.go", "protocol/dnp3/*/*_test.go", "driver/dnp3/*_test.go", "gateway/dnp3/*_test.go", "device/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`|“([a-z][^”]+)”").FindAllStringSubmatch(string(page), -1)
	if len(named) < 40 {
		t.Errorf("the page names %d tests and cases only", len(named))
	}
	for _, name := range named {
		want := "func " + name[1] + "("
		if name[2] != "" {
			want = `"` + name[2] + `"`
		}
		if !strings.Contains(tests.String(), want) {
			t.Errorf("%s is in no test", name[0])
		}
	}
}
