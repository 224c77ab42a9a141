package docs

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// constants are the integer constants of a module, by package and name. Those of one name in several packages of one
// name are left out.
type constants struct {
	files map[string]map[string]ast.Expr // by package, then by name
	twice map[string]bool
}

func readConstants(t *testing.T) *constants {
	t.Helper()
	c := &constants{files: map[string]map[string]ast.Expr{}, twice: map[string]bool{}}
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(foreign, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			c.add(f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *constants) add(f *ast.File) {
	names := c.files[f.Name.Name]
	if names == nil {
		names = map[string]ast.Expr{}
		c.files[f.Name.Name] = names
	}
	for _, decl := range f.Decls {
		g, is := decl.(*ast.GenDecl)
		if !is || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			s, _ := spec.(*ast.ValueSpec)
			for i, name := range s.Names {
				if i < len(s.Values) {
					c.twice[f.Name.Name+"."+name.Name] = names[name.Name] != nil
					names[name.Name] = s.Values[i]
				}
			}
		}
	}
}

// value works out an expression of constants of a package; nil for what it does not know.
func (c *constants) value(pkg string, e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return c.value(pkg, e.X)
	case *ast.Ident:
		if in := c.files[pkg][e.Name]; in != nil {
			return c.value(pkg, in)
		}
	case *ast.SelectorExpr:
		units := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
		if d := units[e.Sel.Name]; d != 0 {
			return constant.MakeInt64(int64(d))
		}
	case *ast.BinaryExpr:
		x, y := c.value(pkg, e.X), c.value(pkg, e.Y)
		if x == nil || y == nil {
			return nil
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, token.SHL, uint(n))
		}
		if e.Op == token.QUO {
			return constant.BinaryOp(x, token.QUO_ASSIGN, y)
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return nil
}

// quantity reads the first quantity of a text, in bytes, nanoseconds or as it is.
func quantity(text string) (float64, bool) {
	m := regexp.MustCompile(`^([\d,.]+)(?: (KiB|MiB|GiB|ms|s|min|h|days)\b)?`).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.Trim(strings.ReplaceAll(m[1], ",", ""), "."), 64)
	units := map[string]float64{
		"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
		"ms": float64(time.Millisecond), "s": float64(time.Second), "min": float64(time.Minute), "h": float64(time.Hour), "days": 24 * float64(time.Hour),
	}
	return n * units[m[2]], err == nil
}

// The page of limits says what stands in the program.
func TestEveryLimitOfThePageIsThatOfTheProgram(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(), "docs/reference/limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	c, compared := readConstants(t), 0
	named := regexp.MustCompile("`([a-z][a-z0-9]*)\\.([a-zA-Z]\\w*)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
			expr := c.files[m[1]][m[2]]
			if expr == nil {
				continue // a key of the configuration
			}
			v := c.value(m[1], expr)
			want, isNumber := quantity(strings.TrimSpace(cells[2]))
			if v == nil || !isNumber || c.twice[m[1]+"."+m[2]] {
				t.Errorf("%s.%s and %q cannot be compared", m[1], m[2], cells[2])
				continue
			}
			if got, _ := constant.Float64Val(constant.ToFloat(v)); got != want {
				t.Errorf("%s.%s is %v, and the page says %s", m[1], m[2], v, cells[2])
			}
			compared++
		}
	}
	if compared < 35 {
		t.Errorf("only %d limits are compared", compared)
	}
}
