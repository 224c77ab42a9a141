package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Folders whose files are not ours.
var foreign = []string{".git", ".venv", "node_modules", "build", "bin", "dist", "voltbus-demo"}

// documents lists the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(foreign, d.Name()) {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// link is a Markdown link or picture.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestEveryRelativeLinkLeadsSomewhere(t *testing.T) {
	seen := 0
	for _, file := range documents(t) {
		for _, target := range links(t, file) {
			seen++
			if why := follow(t, file, target); why != "" {
				t.Errorf("%s: the link %s %s", strings.TrimPrefix(file, root()+"/"), target, why)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d links were found", seen)
	}
}

// links returns the relative links of a file, those within code left out.
func links(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	for _, line := range prose(t, file) {
		for _, found := range link.FindAllStringSubmatch(line, -1) {
			if target := found[1]; !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
				out = append(out, target)
			}
		}
	}
	return out
}

// prose returns the lines of a file outside its fenced blocks.
func prose(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	fenced := false
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			out = append(out, line)
		}
	}
	return out
}

// follow returns what is wrong with a link, or "".
func follow(t *testing.T, from, target string) string {
	t.Helper()
	name, anchor, _ := strings.Cut(target, "#")
	file := from
	if name != "" {
		file = filepath.Join(filepath.Dir(from), name)
	}
	if _, err := os.Stat(file); err != nil {
		return "leads to nothing"
	}
	if anchor != "" && filepath.Ext(file) == ".md" && !slices.Contains(anchors(t, file), anchor) {
		return "leads to no heading of that file"
	}
	return ""
}

// anchors returns the names of the headings of a file, as GitHub makes them.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	for _, line := range prose(t, file) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out = append(out, anchorOf(title))
		}
	}
	return out
}

func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
