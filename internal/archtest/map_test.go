package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapFile shows every package by the level that its imports give it.
const mapFile = "../../docs/reference/packages.md"

const mapHead = `# Packages

Every package of the program by level: a package imports only from levels above it in this list, level 1 imports nothing of this module.
[ARCHITECTURE.md](../../ARCHITECTURE.md) says how they work together; who may import whom is the table in ` + "`internal/archtest`" + `.
Lines, exported names, and the methods of the largest type leave out tests and generated files. Written by
` + "`UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap`" + `.

`

// levels gives each package one more than the largest level among those that it imports.
func levels(imports map[string][]string) map[string]int {
	out := map[string]int{}
	var of func(pkg string) int
	of = func(pkg string) int {
		if n, known := out[pkg]; known {
			return n
		}
		most := 0
		for _, i := range imports[pkg] {
			most = max(most, of(i))
		}
		out[pkg] = most + 1
		return most + 1
	}
	for pkg := range imports {
		of(pkg)
	}
	return out
}

// own cuts the module's name from the imports that are of the module.
func own(list []string) (out []string) {
	for _, i := range list {
		if name, is := strings.CutPrefix(i, module+"/"); is {
			out = append(out, name)
		}
	}
	return out
}

// exports counts the exported functions, types, methods, constants and variables of a package, and says what it is for.
func exports(dir string) (count int, synopsis string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return 0, "", err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return 0, "", err
		}
		if f.Doc != nil && synopsis == "" {
			synopsis = new(doc.Package).Synopsis(f.Doc.Text())
		}
		if !ast.IsGenerated(f) {
			count += exported(f)
		}
	}
	return count, synopsis, nil
}

func exported(f *ast.File) (count int) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				count++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						count++
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							count++
						}
					}
				}
			}
		}
	}
	return count
}

// largest returns the most methods that a type of each package has.
func largest(methods map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range methods {
		pkg := name[:strings.LastIndex(name, ".")]
		out[pkg] = max(out[pkg], n)
	}
	return out
}

// drawn writes the map.
func drawn(t *testing.T, packages []listed) string {
	t.Helper()
	imports := map[string][]string{}
	for _, p := range packages {
		imports[strings.TrimPrefix(p.ImportPath, module+"/")] = own(p.Imports)
	}
	s, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	level, most := levels(imports), largest(s.methods)
	names := slices.SortedFunc(maps.Keys(imports), func(a, b string) int {
		return cmp.Or(cmp.Compare(level[a], level[b]), strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString(mapHead)
	last := 0
	for _, name := range names {
		count, synopsis, err := exports(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if level[name] != last {
			last = level[name]
			fmt.Fprintf(&b, "%s## Level %d\n\n| package | for | lines | exports | methods | imports |\n| --- | --- | --: | --: | --: | --: |\n", strings.Repeat("\n", min(last-1, 1)), last)
		}
		_, about, _ := strings.Cut(synopsis, " "+filepath.Base(name)+" ")
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %d | %d |\n", name, strings.ReplaceAll(cmp.Or(about, synopsis), "|", `\|`), s.lines[name], count, most[name], s.imports[name])
	}
	return b.String()
}

var sizeColumns = regexp.MustCompile(`( \| \d+){4} \|`)

// TestTheMapOfPackagesIsTrue fails where a package is missing or has another level or purpose than the map says. Sizes change with every
// commit; they are written anew with the map.
func TestTheMapOfPackagesIsTrue(t *testing.T) {
	packages := listPackages(t)
	want := drawn(t, packages)
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(mapFile, []byte(want), 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(mapFile)
	if err != nil {
		t.Fatal(err)
	}
	if sizeColumns.ReplaceAllString(string(text), "") != sizeColumns.ReplaceAllString(want, "") {
		t.Errorf("%s is not true any more: UPDATE_DOCS=1 go test ./internal/archtest -run TestTheMap", filepath.Clean(mapFile))
	}
}

func TestALevelIsAboveAllThatIsImported(t *testing.T) {
	got := levels(map[string][]string{"a": nil, "b": {"a"}, "c": {"a", "b"}, "d": nil})
	if want := map[string]int{"a": 1, "b": 2, "c": 3, "d": 1}; !maps.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}
