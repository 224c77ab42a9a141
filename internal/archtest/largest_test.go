package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	sizesBegin = "<!-- the sizes: UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap -->\n"
	sizesEnd   = "<!-- end of the sizes -->\n"
)

// roots are put together of the other packages, and may import as many as there are.
var roots = []string{"cmd/voltbus", "node", "operation/declared"}

// sizesTable compares the sizes with those of version 0.4, which was counted in the same way at the commit ff0a157.
func sizesTable(s *sizes, exported map[string]int) string {
	imports := maps.Clone(s.imports)
	maps.DeleteFunc(imports, func(pkg string, _ int) bool { return slices.Contains(roots, pkg) })
	var b strings.Builder
	b.WriteString("| | 0.4 | now | at most |\n| --- | --: | --: | --: |\n")
	row := func(what, before string, now int, most string) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", what, before, grouped(now), most)
	}
	row("methods of the type with the most", "182 (`api.server`)", most(s.methods), grouped(mostMethods))
	row("types with more methods than that", "24", over(s.methods, mostMethods), "0")
	row("lines of the largest package", "7,565 (`api`)", most(s.lines), grouped(mostLines))
	row("larger packages", "12", over(s.lines, mostLines), "0")
	row("packages of the module that one imports, except `"+strings.Join(roots, "`, `")+"`", "19", most(imports), grouped(mostImports))
	row("exported names of the package with the most", "333", most(exported), "–")
	return b.String()
}

func most(counted map[string]int) int { return slices.Max(slices.Collect(maps.Values(counted))) }

func over(counted map[string]int, bound int) (n int) {
	for c := range maps.Values(counted) {
		if c > bound {
			n++
		}
	}
	return n
}

// grouped writes a number with a comma between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

var nowColumn = regexp.MustCompile(`(?m) \| [0-9,]+( \| [0-9,–]+ \|)$`)

// TestTheMapOfSizesIsTrue fails where the table in ARCHITECTURE.md has other rows or bounds. What is counted now changes with every commit;
// it is written anew with the map.
func TestTheMapOfSizesIsTrue(t *testing.T) {
	s, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]int{}
	for pkg := range s.lines {
		if exported[pkg], _, err = exports(filepath.Join("../..", pkg)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), sizesBegin)
	written, after, ends := strings.Cut(rest, sizesEnd)
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no place for the sizes")
	}
	want := sizesTable(&s, exported)
	switch {
	case os.Getenv("UPDATE_DOCS") != "":
		if err := os.WriteFile(architecture, []byte(before+sizesBegin+want+sizesEnd+after), 0o644); err != nil { //nolint:gosec // a page
			t.Fatal(err)
		}
	case nowColumn.ReplaceAllString(written, "$1") != nowColumn.ReplaceAllString(want, "$1"):
		t.Error("the sizes in ARCHITECTURE.md are not true any more: UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap")
	}
}

func TestSizesAreCountedAndCompared(t *testing.T) {
	s := &sizes{
		methods: map[string]int{"a.T": 30, "b.T": 25}, lines: map[string]int{"a": 2501, "b": 100, "node": 1},
		imports: map[string]int{"a": 3, "b": 21, "node": 80},
	}
	got := nowColumn.FindAllString(sizesTable(s, map[string]int{"a": 7}), -1)
	want := []string{
		" | 30 | 25 |", " | 1 | 0 |", " | 2,501 | 2,500 |", " | 1 | 0 |", " | 21 | 20 |", " | 7 | – |",
	}
	if !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
}
