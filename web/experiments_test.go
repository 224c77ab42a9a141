package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// experimentsOf returns what people read first of the experiments of the lab: titles, questions and what is measured, whole, and the clauses of
// verdicts. How an experiment is measured, and what its figures do not say, stay English, as the documents do that they are compared with.
func experimentsOf(t *testing.T) (found []string) {
	err := filepath.WalkDir("../lab/study", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		ast.Inspect(parsed(t, file), func(n ast.Node) bool {
			for _, e := range headings(n) {
				var s sentence
				if s.read(e) {
					found = append(found, s.text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no experiments: %v", err)
	}
	for _, file := range []string{"../lab/experiment/judge.go", "../lab/account/balance.go", "../lab/load/load.go"} {
		for _, d := range parsed(t, file).Decls {
			if f, is := d.(*ast.FuncDecl); is && (f.Name.Name == "Words" || f.Name.Name == "against") {
				ast.Inspect(f, func(n ast.Node) bool {
					for _, e := range reasonsIn(n, true) {
						found = append(found, clauses(e)...)
					}
					return true
				})
			}
		}
	}
	return found
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// headings returns the values of a node of a source that are a title, a question, or the name of what is measured.
func headings(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CompositeLit:
		of, is := n.Type.(*ast.SelectorExpr)
		switch {
		case is && of.Sel.Name == "Experiment":
			return fields(n, "Title", "Question")
		case is && of.Sel.Name == "Metric":
			return fields(n, "Name")
		case !is: // what an experiment is made of
			return fields(n, "title")
		}
	case *ast.AssignStmt:
		if to, is := n.Lhs[0].(*ast.SelectorExpr); is && to.Sel.Name == "Title" && !isPlot(to.X) {
			return n.Rhs
		}
	}
	return nil
}

// isPlot reports whether a value is a plot of a report, which the page does not show.
func isPlot(of ast.Expr) bool {
	name, is := of.(*ast.Ident)
	return is && name.Name == "p"
}

// fields returns the values of some fields of a value.
func fields(of *ast.CompositeLit, names ...string) (found []ast.Expr) {
	for _, e := range of.Elts {
		pair, is := e.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if key, is := pair.Key.(*ast.Ident); is && slices.Contains(names, key.Name) {
			found = append(found, pair.Value)
		}
	}
	return found
}
