package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/driver/registry"
	"voltbus/internal/folder"
)

type entry struct {
	Name, Unit string
	Tags       map[string]string
	At         registry.Place
}

var format = registry.Format[entry]{
	Noun: "lamp", Needs: "name", Known: "name, unit or tags", Example: "lamps.csv",
	Columns: map[string]func(*entry) *string{
		"name":  func(e *entry) *string { return &e.Name },
		"label": func(e *entry) *string { return &e.Name },
		"unit":  func(e *entry) *string { return &e.Unit },
	},
	Ignored: []string{"comment"},
	Tags:    func(e *entry) *map[string]string { return &e.Tags },
	Place:   func(e *entry) *registry.Place { return &e.At },
	Label:   func(e *entry) string { return e.Name },
}

func TestTheSameListIsReadFromEachForm(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"comma.csv":     "Name,Unit,Comment,tag:floor,Tags\na,kW,x,2,room=k; wing=w\n\n# no lamp\nb,,,,\n",
		"semicolon.csv": "\xef\xbb\xbfLABEL;unit;tag:floor;tag:room;tag:wing\na;kW;2;k;w\nb;;;;\n",
		"list.yaml":     "- {name: a, unit: kW, tags: {floor: 2, room: k, wing: w}}\n- {Name: b, unit: null}\n",
		"text.yml":      "- {name: a, unit: kW, comment: [x], tags: floor=2;room=k;wing=w}\n- name: b\n",
	}
	want := []entry{{Name: "a", Unit: "kW", Tags: map[string]string{"floor": "2", "room": "k", "wing": "w"}}, {Name: "b"}}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, problems := format.ReadFile(folder.Any(""), "lamps", file)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, errors.Join(problems...))
		}
		for i := range entries {
			if at := entries[i].At; at.File != file || at.Row == 0 || !strings.HasPrefix(at.Key, "lamps[") {
				t.Errorf("%s: entry %d stands at %+v", name, i, at)
			}
			entries[i].At = registry.Place{}
		}
		if diff := cmp.Diff(want, entries); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
}

func TestAConfigurationHoldsAFileNameOrAList(t *testing.T) {
	cases := map[string]struct {
		text    string
		file    string
		entries int
		empty   bool
		problem string
	}{
		"a name":         {"lamps.csv", "lamps.csv", 0, false, ""},
		"a list":         {"[{name: a}, {name: b}]", "", 2, false, ""},
		"an empty list":  {"[]", "", 0, true, ""},
		"a mapping":      {"{name: a}", "", 0, false, `k: is neither a file name nor a list; write a name such as lamps.csv, or one "- name: …" for each lamp`},
		"a list of text": {"[a]", "", 0, false, "k[0]: is not a lamp; write name"},
		"a wrong tag":    {"[{name: a, tags: floor}]", "", 1, false, `k[0].tags: (a) "floor" is not a tag; write name=value, several with ; between`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(c.text), &doc); err != nil {
				t.Fatal(err)
			}
			s := format.Decode("k", doc.Content[0])
			if s.File != c.file || len(s.Entries) != c.entries || (s.None() && !s.Missing()) != c.empty {
				t.Errorf("got %+v", s)
			}
			problem := ""
			if s.File == "" {
				if err := errors.Join(s.Load(&format, folder.Any(""))...); err != nil {
					problem = err.Error()
				}
			}
			if problem != c.problem {
				t.Errorf("got %q", problem)
			}
		})
	}
}

func TestAFolderIsNoRegistry(t *testing.T) {
	_, problems := format.ReadFile(folder.Any(""), "lamps", t.TempDir())
	var p *driver.Problem
	if len(problems) != 1 || !errors.As(problems[0], &p) || !strings.Contains(p.Text, "is not a regular file") {
		t.Errorf("got %v", problems)
	}
}
