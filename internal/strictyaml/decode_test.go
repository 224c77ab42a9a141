package strictyaml

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

type plant struct {
	Name     string            `yaml:"name"`
	Interval time.Duration     `yaml:"interval"`
	Start    time.Time         `yaml:"start"`
	Port     uint16            `yaml:"port" example:"502"`
	Offset   int8              `yaml:"offset"`
	Scale    float64           `yaml:"scale"`
	Record   bool              `yaml:"record"`
	Engine   string            `yaml:"engine" enum:"duckdb,none"`
	Publish  []string          `yaml:"publish" enum:"scan,point" example:"[scan, point]"`
	Tags     map[string]string `yaml:"tags"`
	Boiler   *boiler           `yaml:"boiler"`
	Boilers  []boiler          `yaml:"boilers"`
	Colour   colour            `yaml:"colour"`
	Fan      fan               `yaml:"fan"`
	Raw      yaml.Node         `yaml:"raw"`
	Any      any               `yaml:"any"`
	Limits   `yaml:",inline"`
	Skipped  int `yaml:"-"`
}

type boiler struct {
	Power float32
}

// Limits is inlined.
type Limits struct {
	Max int `yaml:"max"`
}

type colour string

func (c *colour) UnmarshalText(text []byte) error {
	if string(text) != "red" {
		return errors.New("only red is painted; write red")
	}
	*c = "red"
	return nil
}

type fan struct{ speed int }

func (f *fan) UnmarshalYAML(node *yaml.Node) error {
	var form struct{ Speed int }
	err := node.Decode(&form)
	f.speed = form.Speed
	return err
}

func TestDecodeOverwritesOnlyWhatIsWritten(t *testing.T) {
	got := plant{
		Name: "old", Interval: time.Minute, Record: true, Publish: []string{"scan"},
		Tags: map[string]string{"a": "1"}, Limits: Limits{7},
	}
	text := `
name: 007
start: 2026-01-31
port: 0x1F
scale: 2
record: false
publish: [point]
tags: {b: 2}
boiler: {power: 1.5}
boilers:
  - power: 2
colour: red
fan: {speed: 3}
any: {a: [1, 2.5, true, x, null]}
interval:
`
	if problems := decodeText(t, text, &got); problems != nil {
		t.Fatalf("problems: %v", problems)
	}
	want := plant{
		Name: "007", Interval: time.Minute, Start: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Port: 31, Scale: 2,
		Publish: []string{"point"}, Tags: map[string]string{"a": "1", "b": "2"}, Boiler: &boiler{1.5},
		Boilers: []boiler{{2}}, Colour: "red", Fan: fan{3}, Limits: Limits{7},
		Any: map[string]any{"a": []any{int64(1), 2.5, true, "x", nil}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(plant{}, fan{})); diff != "" {
		t.Error("decoded (-want +got):\n" + diff)
	}
}

func TestProblemsSayWhereAndWhatToWrite(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown key that is close to a known one": {"intervall: 10s", `p.yaml:1: intervall: unknown key; did you mean "interval"?`},
		"two letters swapped":                         {"prot: 1", `p.yaml:1: prot: unknown key; did you mean "port"?`},
		"an unknown key unlike any":                   {"boiler: {temperature: 1}", "p.yaml:1: boiler.temperature: unknown key; write power"},
		"a key twice":                                 {"name: a\nname: b", "p.yaml:2: name: stands in line 1 already; keep one of them"},
		"a duration without a unit":                   {"interval: 10", "p.yaml:1: interval: 10 has no unit; write 10s for seconds"},
		"no duration":                                 {"interval: soon", `p.yaml:1: interval: "soon" is not a duration; write one such as 10s`},
		"no time":                                     {"start: noon", `p.yaml:1: start: "noon" is not a time; write one such as 2026-01-31T12:00:00Z`},
		"a number too large for its type":             {"port: 70000", `p.yaml:1: port: "70000" is not a whole number from 0 to 65535; write one such as 502`},
		"a number too small for its type":             {"offset: -129", `p.yaml:1: offset: "-129" is not a whole number from -128 to 127; write one such as 10`},
		"a fraction for a whole number":               {"max: 1.5", `p.yaml:1: max: "1.5" is not a whole number; write one such as 10`},
		"no number":                                   {"scale: ten", `p.yaml:1: scale: "ten" is not a number; write one such as 21.5`},
		"a number that is infinite":                   {"scale: .inf", `p.yaml:1: scale: ".inf" is not a number; write one such as 21.5`},
		"a number in quotes":                          {`max: "5"`, `p.yaml:1: max: "5" is text; remove the quotes`},
		"yes for true":                                {"record: yes", `p.yaml:1: record: "yes" is neither true nor false; write one of them`},
		"an unknown word of a list":                   {"engine: duckbd", `p.yaml:1: engine: "duckbd" is not known; did you mean "duckdb"?`},
		"an unknown word in a list of words":          {"publish: [scan, always]", `p.yaml:1: publish[1]: "always" is not known; write scan or point`},
		"a value where a list belongs":                {"publish: scan", `p.yaml:1: publish: has "scan" here; write a list, such as [scan, point]`},
		"a list where keys belong":                    {"boiler: [1]", "p.yaml:1: boiler: has a list here; write keys below it"},
		"keys where a value belongs":                  {"port: {a: 1}", "p.yaml:1: port: has keys here; write a whole number from 0 to 65535, such as 502"},
		"a list where a text belongs":                 {"colour: [red]", "p.yaml:1: colour: has a list here; write one value"},
		"a type that checks itself":                   {"colour: blue", "p.yaml:1: colour: only red is painted; write red"},
		"a type that decodes itself":                  {"fan:\n  speed: fast", "p.yaml:2: fan: cannot unmarshal !!str `fast` into int"},
		"a value where the file has its keys":         {"hello", `p.yaml:1: has "hello" here; write keys below it`},
		"a key that is a list":                        {"? [a]\n: 1", "p.yaml:1: a key must be plain text"},
		"a merge of a value":                          {"<<: 5", "p.yaml:1: <<: merges what has no keys; write an alias of a mapping, such as *boiler"},
		"an alias that contains itself":               {"any: &a [*a]", "p.yaml:1: any" + strings.Repeat("[0]", 49) + ": nested too deeply, or an alias repeats too much; write it out"},
		"a key with a line break":                     {`"one\ntwo three": 1`, `p.yaml:1: "one\ntwo three": unknown key; write one of name, interval, start, port, offset, scale, record, engine, publish, tags, boiler, boilers, colour, fan, raw, any, max`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p plant
			got := decodeText(t, tt.text, &p)
			if len(got) != 1 {
				t.Fatalf("got %d problems %v, want one", len(got), got)
			}
			if diff := cmp.Diff(tt.want, got[0].String()); diff != "" {
				t.Error("problem (-want +got):\n" + diff)
			}
		})
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	var p plant
	got := decodeText(t, "port: x\nintervall: 5s\nboilers:\n  - power: x\n  - powr: 1\nrecord: 1\n", &p)
	keys := make([]string, len(got))
	for i, problem := range got {
		keys[i] = problem.Key
	}
	want := []string{"port", "intervall", "boilers[0].power", "boilers[1].powr", "record"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error("keys (-want +got):\n" + diff)
	}
}

func TestAWrongValueKeepsTheDefault(t *testing.T) {
	p := plant{Interval: time.Minute, Port: 502}
	if got := decodeText(t, "interval: x\nport: -1\n", &p); len(got) != 2 {
		t.Fatalf("problems: %v", got)
	}
	if p.Interval != time.Minute || p.Port != 502 {
		t.Errorf("got interval %v and port %d, want the defaults", p.Interval, p.Port)
	}
}

func TestMergedKeysGiveWayToOwnOnes(t *testing.T) {
	var m map[string]boiler
	text := "a: &a {power: 1}\nb: &b\n  <<: *a\nc:\n  <<: [*b, {power: 3}]\nd: {<<: *a, power: 4}\n"
	if got := decodeText(t, text, &m); got != nil {
		t.Fatalf("problems: %v", got)
	}
	want := map[string]boiler{"a": {1}, "b": {1}, "c": {1}, "d": {4}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error("decoded (-want +got):\n" + diff)
	}
}

func TestAliasesThatMultiplyEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("any:\n  - &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		b.WriteString("  - &a" + string(rune('1'+i)) + " [" + strings.Repeat("*a"+string(rune('0'+i))+", ", 9) + "x]\n")
	}
	var p plant
	if got := decodeText(t, b.String(), &p); len(got) != 1 || !strings.Contains(got[0].Text, "an alias repeats too much") {
		t.Errorf("problems: %v", got)
	}
}

func TestFilesThatAreNotOneDocument(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a tab":                 {"a:\n\tb: 1", "p.yaml:2: not YAML: found character that cannot start any token; indent with spaces, not tabs, and put quotes around text that begins with @, % or `"},
		"a colon in a value":    {"a: b: c", "p.yaml:1: not YAML: mapping values are not allowed in this context; align the key with the ones beside it, and put quotes around text that contains a colon"},
		"a second document":     {"a: 1\n---\nb: 2", "p.yaml:2: a second document begins here; remove the line \"---\" and write one document"},
		"a control character":   {"a: \x01", "p.yaml:1: not YAML: control characters are not allowed; save the file as UTF-8 text"},
		"an alias of nothing":   {"a: 1\nb: *b", "p.yaml:2: not YAML: unknown anchor 'b' referenced"},
		"an unfinished bracket": {"a: [1", "p.yaml:1: not YAML: did not find expected ',' or ']'"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problem := Parse("p.yaml", []byte(tt.text))
			if problem == nil {
				t.Fatal("no problem")
			}
			if diff := cmp.Diff(tt.want, problem.String()); diff != "" {
				t.Error("problem (-want +got):\n" + diff)
			}
		})
	}
}

func TestAnEmptyFileIsAnEmptyMapping(t *testing.T) {
	p := plant{Name: "kept"}
	if got := decodeText(t, "# only a comment\n", &p); got != nil || p.Name != "kept" {
		t.Errorf("problems %v, name %q", got, p.Name)
	}
}

func TestLineFindsTheKey(t *testing.T) {
	text := "a: &x\n  b.c:\n    - one\n    - key: 1\n  b: 2\nd: *x\n"
	root, problem := Parse("p.yaml", []byte(text))
	if problem != nil {
		t.Fatal(problem)
	}
	tests := map[string]int{
		"": 1, "a": 1, "a.b": 5, "a.b.c": 2, "a.b.c[1]": 4, "a.b.c[1].key": 4, "a.b.c[0]": 3, "a.b.c[7]": 2,
		"a.b.c[x": 2, "nothing": 1, "a.nothing.here": 1, "d": 6, "d.b": 5,
	}
	for key, want := range tests {
		if got := Line(root, key); got != want {
			t.Errorf("Line(%q) = %d, want %d", key, got, want)
		}
	}
	if got := Line(nil, "a"); got != 0 {
		t.Errorf("Line of no node = %d, want 0", got)
	}
}

func TestDurationsReadBackAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, int64(200*365*24*time.Hour)).Draw(t, "duration"))
		got, ok := ParseDuration(FormatDuration(want))
		if !ok || got != want {
			t.Errorf("%q reads back as %v", FormatDuration(want), got)
		}
	})
	for text, want := range map[string]time.Duration{"14d": 14 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0": 0, "1h0m": time.Hour} {
		if got, ok := ParseDuration(text); !ok || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d-1h", "1dx", "110000d", "1d9999999h"} {
		if got, ok := ParseDuration(text); ok {
			t.Errorf("ParseDuration(%q) = %v, want it refused", text, got)
		}
	}
	for want, d := range map[string]time.Duration{"14d": 14 * 24 * time.Hour, "24h": 24 * time.Hour, "1h": time.Hour, "90m": 0, "1h30m": 90 * time.Minute, "5ms": 5 * time.Millisecond, "0s": 0} {
		if got := FormatDuration(d); d != 0 && got != want {
			t.Errorf("FormatDuration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSortOrdersByPlaceAndDropsRepeats(t *testing.T) {
	a, b, c := Problem{File: "a", Line: 2, Key: "k", Text: "t"}, Problem{File: "a", Line: 10, Key: "k", Text: "t"}, Problem{File: "b", Line: 1, Text: "t"}
	if diff := cmp.Diff([]Problem{a, b, c}, Sort([]Problem{c, b, a, b})); diff != "" {
		t.Error("sorted (-want +got):\n" + diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("name: a\nboilers: [{power: 1}]\n")
	f.Add("a: &a [*a]\n<<: *a\nany: *a")
	f.Add("raw: {a: !!binary x}\nfan: 1\n? {a: b}\n: c")
	f.Fuzz(func(t *testing.T, text string) {
		root, problem := Parse("p.yaml", []byte(text))
		if problem != nil {
			return
		}
		var p plant
		for _, problem := range Decode("p.yaml", "", root, &p) {
			if problem.Text == "" || strings.Contains(problem.String(), "\n") {
				t.Errorf("problem is not one line: %q", problem)
			}
			Line(root, problem.Key)
		}
	})
}

func decodeText(t *testing.T, text string, out any) []Problem {
	t.Helper()
	root, problem := Parse("p.yaml", []byte(text))
	if problem != nil {
		t.Fatal(problem)
	}
	return Decode("p.yaml", "", root, out)
}
