package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// absence is a sentence of the documentation about what the program does not have, and how to see that it is so.
type absence struct {
	file     string
	sentence string // part of it
	absent   func(t *testing.T) bool
}

// The sentences that may say that something is not there. Who builds it finds them here.
var absences = []absence{
	{"docs/explanation/security.md", "There is no way to install a certificate of your own authority yet", func(t *testing.T) bool {
		return !hasSetting(t, "listen.certificate")
	}},
}

func TestWhatTheDocumentsCallMissingIsMissing(t *testing.T) {
	missing := regexp.MustCompile(`(?i)\b(in a later step|a later version|is to come|yet to come|not there yet|not in it yet|` +
		`not (built|supported|implemented|possible|done) yet|no way to .* yet)\b`)
	used := make([]bool, len(absences))
	for _, file := range documents(t) {
		name := strings.TrimPrefix(file, root()+"/")
		if strings.HasPrefix(name, "docs/adr/") || strings.HasPrefix(name, "docs/tutorials/") || name == "CHANGELOG.md" {
			continue // decisions and changes are of their day; a tutorial tells what is there at each step
		}
		text, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if missing.MatchString(line) && !judged(t, name, line, used) {
				t.Errorf("%s:%d says that something is missing: %q; correct it, or add how to see that to the list of this test", name, i+1, line)
			}
		}
	}
	for i, a := range absences {
		if !used[i] {
			t.Errorf("%s does not say %q any more: remove it from the list of this test", a.file, a.sentence)
		}
	}
}

// judged reports whether a line is in the list, and complains if what it calls missing is there.
func judged(t *testing.T, name, line string, used []bool) bool {
	t.Helper()
	for i, a := range absences {
		if a.file != name || !strings.Contains(line, a.sentence) {
			continue
		}
		used[i] = true
		if !a.absent(t) {
			t.Errorf("%s says %q, but the program has it", name, a.sentence)
		}
		return true
	}
	return false
}

func hasSetting(t *testing.T, name string) bool {
	t.Helper()
	return inReference(t, "configuration.md", "| `"+name+"` |")
}

func inReference(t *testing.T, file, text string) bool {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root(), "docs", "reference", file)) //nolint:gosec // of the repository
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(page), text)
}
