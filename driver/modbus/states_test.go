package modbus

import (
	"errors"
	"strings"
	"testing"

	"voltbus/point"
)

func TestStatesAndMissingThatAreWrongAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		entry Entry
		want  string
	}{
		"states of a float":           {Entry{Type: "float32", States: "a|b"}, "needs a type that is a whole number"},
		"states beside a scale":       {Entry{Type: "uint16", Scale: "0.1", States: "a|b"}, "stands beside scale"},
		"a state without a name":      {Entry{Type: "uint16", States: "1=|2=b"}, "has no name of its own"},
		"a state that is there twice": {Entry{Type: "uint16", States: "1=a|1=b"}, "no value of its own"},
		"a state with half a number":  {Entry{Type: "uint16", States: "x=a"}, "does not begin with a whole number"},
		"missing of a text":           {Entry{Type: "string[4]", Missing: "0"}, "needs a type that is a number"},
		"missing that does not fit":   {Entry{Type: "uint16", Missing: "0x10000"}, "no raw value of 16 bits"},
	} {
		t.Run(name, func(t *testing.T) {
			c.entry.Name, c.entry.Address = "p", "0"
			cfg := NewConfig()
			cfg.Registry.Entries = []Entry{c.entry}
			if cfg.compile(); len(cfg.problems) != 1 || !strings.Contains(cfg.problems[0].Error(), c.want) {
				t.Errorf("got %v, want …%s…", errors.Join(cfg.problems...), c.want)
			}
		})
	}
}

func TestAStateIsWrittenByItsNameOrNumber(t *testing.T) {
	r := compileOne(t, Entry{Type: "uint16", Table: "holding", Writable: "true", States: "1=off|7=on"})
	for v, want := range map[point.Value]uint16{
		point.TextOf("on"): 7, point.TextOf("OFF"): 1, point.TextOf("3"): 3, point.IntOf(7): 7, point.FloatOf(1): 1,
	} {
		if words, err := r.encode(v, nil, 0); err != nil || words[0] != want {
			t.Errorf("%v becomes %v, %v, want %d", v, words, err, want)
		}
	}
	for _, v := range []point.Value{point.TextOf("half"), point.FloatOf(1.5), point.TextOf("70000")} {
		if words, err := r.encode(v, nil, 0); err == nil {
			t.Errorf("%v becomes %v", v, words)
		}
	}
}
