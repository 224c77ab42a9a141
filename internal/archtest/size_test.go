package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a reader can carry: methods of a type, lines of a package without its tests, packages of the module that one imports.
const (
	mostMethods = 25
	mostLines   = 2500
	mostImports = 20
)

// sizes are what was counted of the module.
type sizes struct {
	methods map[string]int // by package and type, such as "api/client.Client"
	lines   map[string]int // by package
	imports map[string]int // by package
}

// measure counts what the files of the module below root hold, tests and generated files excepted.
func measure(root string) (sizes, error) {
	out := sizes{methods: map[string]int{}, lines: map[string]int{}, imports: map[string]int{}}
	imported := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, file, d.Name())
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if imported[pkg] == nil {
			imported[pkg] = map[string]bool{}
		}
		return out.add(pkg, file, imported[pkg])
	})
	for pkg, names := range imported {
		out.imports[pkg] = len(names)
	}
	return out, err
}

// enter leaves out folders that hold no package of the module.
func enter(root, dir, name string) error {
	if dir == root {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || name == "build" {
		return filepath.SkipDir
	}
	return nil
}

func (s *sizes) add(pkg, file string, imported map[string]bool) error {
	text, err := os.ReadFile(file) //nolint:gosec // of the source tree
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
	if err != nil || ast.IsGenerated(parsed) {
		return err
	}
	s.lines[pkg] += strings.Count(string(text), "\n")
	for _, i := range parsed.Imports {
		if name, is := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); is {
			imported[name] = true
		}
	}
	for _, d := range parsed.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Recv == nil {
			continue
		}
		if name := receiver(f.Recv.List[0].Type); name != "" {
			s.methods[pkg+"."+name]++
		}
	}
	return nil
}

// receiver returns the name of the type that has a method.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// exceed lists what has more than it may: more than most, or than is put up with until it is made smaller.
func exceed(what string, counted, known map[string]int, most int) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(counted)) {
		switch n, bound := counted[name], max(most, known[name]); {
		case n > bound && bound == most:
			problems = append(problems, fmt.Sprintf("%s has %d %s; %d at most: make parts of it", name, n, what, most))
		case n > bound:
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than the %d that are put up with in internal/archtest: it is to become smaller", name, n, what, bound))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if counted[name] <= most {
			problems = append(problems, fmt.Sprintf("%s has %d %s now, which anybody may: take it out of the list in internal/archtest", name, counted[name], what))
		}
	}
	return problems
}

func TestNothingIsLargerThanAReaderCanCarry(t *testing.T) {
	s, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	delete(s.imports, "operation/declared") // a list of the parts has as many as there are parts
	for _, problem := range slices.Concat(
		exceed("methods", s.methods, manyMethods, mostMethods),
		exceed("lines", s.lines, manyLines, mostLines),
		exceed("imports of the module", s.imports, manyImports, mostImports),
	) {
		t.Error(problem)
	}
}

func TestWhatIsTooLargeIsFound(t *testing.T) {
	counted := map[string]int{"a.small": 25, "a.large": 26, "b.known": 90, "b.grown": 91, "b.mended": 3}
	got := exceed("methods", counted, map[string]int{"b.known": 90, "b.grown": 90, "b.mended": 40}, 25)
	want := []string{
		"a.large has 26 methods; 25 at most: make parts of it",
		"b.grown has 91 methods, more than the 90 that are put up with in internal/archtest: it is to become smaller",
		"b.mended has 3 methods now, which anybody may: take it out of the list in internal/archtest",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
