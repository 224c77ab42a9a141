package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A table of promises names the tests that keep them.
func TestEveryTestThatADocumentNamesIsThere(t *testing.T) {
	there := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(foreign, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the repository
		for _, found := range function.FindAllStringSubmatch(string(text), -1) {
			there[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named, seen := regexp.MustCompile("`(Test[A-Z]\\w+)`"), 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			if seen++; !there[found[1]] {
				t.Errorf("%s names the test %s, which is not there", strings.TrimPrefix(file, root()+"/"), found[1])
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d tests are named", seen)
	}
}

// A test of the page is named by its file and its title.
func TestEveryTestOfThePageThatADocumentNamesIsThere(t *testing.T) {
	texts := map[string]string{}
	err := filepath.WalkDir(filepath.Join(root(), "web"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(foreign, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".test.ts") && !strings.HasSuffix(path, ".e2e.ts"):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the repository
		texts[d.Name()] += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named, seen := regexp.MustCompile("`([\\w-]+\\.(?:test|e2e)\\.ts)`: \"([^\"]+)\""), 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			if seen++; !strings.Contains(texts[found[1]], `("`+found[2]+`"`) {
				t.Errorf("%s names the test %q of %s, which is not there", strings.TrimPrefix(file, root()+"/"), found[2], found[1])
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d tests are named", seen)
	}
}
