package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Who follows a page for contributors finds the files that it names. Those with "<" in their name are to be written.
func TestEveryFileThatAPageForContributorsNamesIsThere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root(), "docs/contributing/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	named, seen := regexp.MustCompile("`([a-z][A-Za-z0-9_./-]*/[A-Za-z0-9_-]+\\.(?:go|py|ts|tsx|yaml|json|md))`"), 0
	for _, page := range append(pages, filepath.Join(root(), "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			seen++
			if _, err := os.Stat(filepath.Join(root(), found[1])); err != nil {
				t.Errorf("%s names the file %s, which is not there", filepath.Base(page), found[1])
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d files are named", seen)
	}
}
