package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "voltbus"

// listed is what "go list -json" tells of a package.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func TestEveryPackageImportsOnlyWhatItsLayerMay(t *testing.T) {
	for _, problem := range checkAll(listPackages(t)) {
		t.Error(problem)
	}
}

func TestViolationsAreFound(t *testing.T) {
	tests := map[string]struct {
		pkg  listed
		want []string
	}{
		"a package outside the table": {
			listed{ImportPath: "voltbus/helper"},
			[]string{"helper: not in the table of internal/archtest: say in which layer it lives"},
		},
		"a driver that imports the bus": {
			listed{ImportPath: "voltbus/driver/bacnet", Imports: []string{"voltbus/bus", "voltbus/driver", "fmt"}},
			[]string{"driver/bacnet imports bus: a driver never knows the bus, the configuration or another driver"},
		},
		"a driver that imports another driver": {
			listed{ImportPath: "voltbus/driver/bacnet", Imports: []string{"voltbus/driver/modbus"}},
			[]string{"driver/bacnet imports driver/modbus: a driver never knows the bus, the configuration or another driver"},
		},
		"a part that imports the configuration": {
			listed{ImportPath: "voltbus/recorder", Imports: []string{"voltbus/config"}},
			[]string{"recorder imports config: the recorder writes to a log that node gives it"},
		},
		"a part that speaks NATS by itself": {
			listed{ImportPath: "voltbus/device", Imports: []string{"github.com/nats-io/nats.go"}},
			[]string{"device imports github.com/nats-io/nats.go: only bus speaks NATS"},
		},
		"a test that speaks NATS by itself": {
			listed{ImportPath: "voltbus/device", XTestImports: []string{"github.com/nats-io/nats.go"}},
			[]string{"tests of device import github.com/nats-io/nats.go: only bus speaks NATS"},
		},
		"a noun's test that imports a part": {
			listed{ImportPath: "voltbus/point", TestImports: []string{"voltbus/store"}},
			[]string{"tests of point import store: nouns outlive everything"},
		},
		"a dependency reached through others": {
			listed{ImportPath: "voltbus/store/remote", Deps: []string{"github.com/nats-io/nats.go"}},
			[]string{"store/remote reaches github.com/nats-io/nats.go: a store is filled by a sink, it does not subscribe"},
		},
		"a program that uses a peer outside tests": {
			listed{ImportPath: "voltbus/device", Imports: []string{"voltbus/testing/peers"}},
			[]string{"device imports testing/peers: the device owner publishes through functions that node gives it"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, checkAll([]listed{tt.pkg})); diff != "" {
				t.Error("problems (-want +got):\n" + diff)
			}
		})
	}
}

func TestAllowedImportsPass(t *testing.T) {
	pkgs := []listed{
		{ImportPath: "voltbus/driver/modbus", Imports: []string{"voltbus/driver", "voltbus/protocol/modbus", "voltbus/driver/modbus/registry", "voltbus/internal/x"}},
		{ImportPath: "voltbus/driver/modbus", XTestImports: []string{"voltbus/driver/modbus", "voltbus/driver/drivertest", "voltbus/testing/peers"}},
		{ImportPath: "voltbus/bus", Imports: []string{"github.com/nats-io/nats.go"}},
		{ImportPath: "voltbus/node", Imports: []string{"voltbus/config", "voltbus/store/duckdb"}},
		{ImportPath: "voltbus/cmd/voltbus", Imports: []string{"voltbus/node", "voltbus/lab/demo"}},
	}
	if got := checkAll(pkgs); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
}

// checkAll returns what breaks the table, in the order of the packages.
func checkAll(pkgs []listed) []string {
	var problems []string
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		i := slices.IndexFunc(table, func(r rule) bool { return match(r.pkg, name) })
		if i < 0 {
			problems = append(problems, name+": not in the table of internal/archtest: say in which layer it lives")
			continue
		}
		r := table[i]
		problems = append(problems, r.check(name, p.Imports)...)
		problems = append(problems, r.checkTests(name, slices.Concat(p.TestImports, p.XTestImports))...)
		problems = append(problems, checkDeps(name, p.Deps)...)
	}
	return problems
}

// check returns what is wrong with the imports of the package name.
func (r rule) check(name string, imports []string) []string {
	var problems []string
	for _, path := range imports {
		why := r.refuse(name, path, r.may)
		if o, ok := ownerOf(path); ok && !matchAny(o.only, name) {
			why = o.why
		}
		if why != "" {
			problems = append(problems, fmt.Sprintf("%s imports %s: %s", name, trim(path), why))
		}
	}
	return problems
}

// checkTests is check for the imports of the package's tests, which may more.
func (r rule) checkTests(name string, imports []string) []string {
	var problems []string
	for _, path := range imports {
		why := r.refuse(name, path, slices.Concat(r.may, r.tests, everyTest))
		if o, ok := ownerOf(path); ok && !matchAny(o.only, name) && !matchAny(o.tests, name) {
			why = o.why
		}
		if why != "" {
			problems = append(problems, fmt.Sprintf("tests of %s import %s: %s", name, trim(path), why))
		}
	}
	return problems
}

// refuse returns why the package name may not import a path of the module, or "".
func (r rule) refuse(name, path string, may []string) string {
	inside, ok := strings.CutPrefix(path, module+"/")
	if !ok || match("internal/...", inside) || match(name+"/...", inside) || matchAny(may, inside) {
		return ""
	}
	return r.why
}

// ownerOf returns who alone may import a path from outside the module.
func ownerOf(path string) (owner, bool) {
	i := slices.IndexFunc(owners, func(o owner) bool { return strings.HasPrefix(path, o.module) })
	if i < 0 {
		return owner{}, false
	}
	return owners[i], true
}

func checkDeps(name string, deps []string) []string {
	var problems []string
	for _, b := range badDeps {
		if !match(b.pkg, name) {
			continue
		}
		i := slices.IndexFunc(deps, func(d string) bool { return strings.HasPrefix(d, b.module) })
		if i >= 0 {
			problems = append(problems, fmt.Sprintf("%s reaches %s: %s", name, deps[i], b.why))
		}
	}
	return problems
}

// match reports whether the pattern selects the package: "x" itself, "x/..." also all below.
func match(pattern, name string) bool {
	prefix, deep := strings.CutSuffix(pattern, "...")
	if !deep {
		return pattern == name
	}
	return strings.HasPrefix(name+"/", prefix)
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}

func trim(path string) string { return strings.TrimPrefix(path, module+"/") }

func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decode the output of go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 4 {
		t.Fatalf("go list found %d packages, want the whole module", len(pkgs))
	}
	return pkgs
}
