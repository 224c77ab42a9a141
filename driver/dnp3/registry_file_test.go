package dnp3

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/internal/folder"
)

// offer is what is said of a column that is not known.
const offer = "is not known; write name, type, group, variation, index, scale, offset, unit, writable, operate, control, count, on_time, off_time, default, min, max, description or tag:…, or remove it"

func TestAFileThatIsNoRegistryIsOneProblem(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		file, text, want string
		row              int
	}{
		"empty":              {"a.csv", "", "registry: is empty; write a heading with at least name, type and index, then one row for each point", 1},
		"not UTF-8":          {"a.csv", "name\n\xff\xfe\n", `registry: is not UTF-8; save it as UTF-8 (the choice "CSV UTF-8" of a spreadsheet)`, 1},
		"an open quote":      {"a.csv", "name,type\n\"a,counter\n", `registry: is not CSV: extraneous or missing " in quoted-field; double the quotes within a quoted cell`, 2},
		"too many cells":     {"a.csv", "name,type,index\na,counter,1,more\n", `registry[0]: (a) has more cells than the heading, the first is "more"; put quotes around text with a comma`, 2},
		"an unknown column":  {"a.csv", "name,type,index,colour\n", `registry: column "colour" ` + offer, 1},
		"a column twice":     {"a.csv", "name,type,index,Type\n", `registry: column "Type" stands there twice; remove one`, 1},
		"not YAML":           {"a.yaml", "a: [", "registry: is not YAML: yaml: line 1: did not find expected node content", 0},
		"YAML without list":  {"a.yml", "name: a\n", `registry: is not a list; write one "- name: …" for each point`, 1},
		"YAML of scalars":    {"a.yml", "- a\n", "registry[0]: is not a point; write name, type and index", 1},
		"an unknown key":     {"a.yml", "- {name: a, idx: 1, type: counter}\n", `registry[0].idx: (a) "idx" ` + offer, 1},
		"a list for a value": {"a.yml", "- {name: [a], index: 1, type: counter}\n", "registry[0].name: is not a single value; write text or a number", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			config := NewConfig()
			config.Registry.File = c.file
			problems := config.Load(folder.Any(dir))
			var p *driver.Problem
			if len(problems) != 1 || !errors.As(problems[0], &p) {
				t.Fatalf("got %v, want one problem", problems)
			}
			if p.Row != c.row || p.Error() != c.want || p.File != c.file {
				t.Errorf("{%q, %q, %q, %d}, file %q", c.file, c.text, p.Error(), p.Row, p.File)
			}
		})
	}
}

func TestARegistryOfAnotherFormIsOneProblem(t *testing.T) {
	var config Config
	if err := yaml.Unmarshal([]byte("registry: {name: a}\n"), &config); err != nil {
		t.Fatal(err)
	}
	const want = `registry: is neither a file name nor a list; write a name such as relay.csv, or one "- name: …" for each point`
	if got := errors.Join(config.Load(folder.Any("."))...); got == nil || got.Error() != want {
		t.Errorf("got %v", got)
	}
}
