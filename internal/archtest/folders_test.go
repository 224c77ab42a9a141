package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	architecture = "../../ARCHITECTURE.md"
	folderBegin  = "<!-- the map of folders: UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap -->\n"
	folderEnd    = "<!-- end of the map of folders -->\n"
)

// undrawn are the folders that nearly everything imports, and those that import nearly everything.
var undrawn = []string{"point", "fault", "wire", "internal", "cmd", "lab", "bench", "testing"}

func folderOf(pkg string) string {
	folder, _, _ := strings.Cut(pkg, "/")
	return folder
}

// folders draws the packages by their first folder, with the level of the highest package in each, and an arrow for what one
// imports from folders below it.
func folders(imports map[string][]string) string {
	level, arrows := map[string]int{}, map[string][]string{}
	of := levels(imports)
	for pkg, list := range imports {
		from := folderOf(pkg)
		level[from] = max(level[from], of[pkg])
		for _, i := range list {
			arrows[from] = append(arrows[from], folderOf(i))
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for from, list := range arrows {
		slices.Sort(list)
		arrows[from] = slices.DeleteFunc(slices.Compact(list), func(to string) bool {
			return level[to] >= level[from] || slices.Contains(undrawn, to)
		})
	}
	order := slices.SortedFunc(maps.Keys(arrows), func(x, y string) int {
		return cmp.Or(cmp.Compare(level[y], level[x]), strings.Compare(x, y))
	})
	for _, from := range order {
		if slices.Contains(undrawn, from) {
			continue
		}
		if to := direct(arrows, from); len(to) > 0 {
			fmt.Fprintf(&b, "  %s --> %s\n", from, strings.Join(to, " & "))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// direct returns where a folder's arrows lead, without those that a way over other folders implies.
func direct(arrows map[string][]string, from string) (out []string) {
	for _, to := range arrows[from] {
		if !slices.ContainsFunc(arrows[from], func(over string) bool { return over != to && leads(arrows, over, to) }) {
			out = append(out, to)
		}
	}
	return out
}

func leads(arrows map[string][]string, from, to string) bool {
	return slices.ContainsFunc(arrows[from], func(next string) bool { return next == to || leads(arrows, next, to) })
}

func TestTheMapOfFoldersIsTrue(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range listPackages(t) {
		imports[strings.TrimPrefix(p.ImportPath, module+"/")] = own(p.Imports)
	}
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), folderBegin)
	drawn, after, ends := strings.Cut(rest, folderEnd)
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no place for the map of folders")
	}
	want := folders(imports)
	switch {
	case os.Getenv("UPDATE_DOCS") != "":
		if err := os.WriteFile(architecture, []byte(before+folderBegin+want+folderEnd+after), 0o644); err != nil { //nolint:gosec // a page
			t.Fatal(err)
		}
	case drawn != want:
		t.Error("the map of folders in ARCHITECTURE.md is not true any more: UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap")
	}
}

func TestAFolderPointsToTheFoldersDirectlyBelowIt(t *testing.T) {
	got := folders(map[string][]string{
		"api":        {"query", "store", "api/answer", "point"},
		"api/answer": {"point"},
		"query":      {"store", "api/answer"},
		"store":      {"point"},
		"point":      nil,
	})
	if want := "```mermaid\nflowchart TD\n  api --> query\n  query --> store\n```\n"; got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
}
