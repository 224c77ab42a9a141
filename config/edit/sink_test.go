package edit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver/all"
	"voltbus/fault"
)

const (
	settings = `{"kind":"kafka","url":"kafka://a:1","points":["plant/**"]}`
	written  = "- name: stream\nZkind: kafka\nZurl: kafka://a:1\nZpoints:\nZ  - plant/**\n"
	other    = "  - {name: old, kind: sqlite, into: x} # mine\n"
)

func entryAt(indent string) string { return indent + strings.ReplaceAll(written, "Z", indent+"  ") }

func TestADestinationIsPutIntoItsPlaceAndTheRestStays(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"without a section":  {"node: {name: n} # mine\n", "node: {name: n} # mine\nsinks:\n" + entryAt("  ")},
		"behind another":     {"sinks:\n" + other + "\n# log\nlog: {max_bytes: 1GiB}\n", "sinks:\n" + other + entryAt("  ") + "\n# log\nlog: {max_bytes: 1GiB}\n"},
		"in its place":       {"sinks:\n" + other + "  - name: stream\n    kind: sqlite\n# end\n", "sinks:\n" + other + entryAt("  ") + "# end\n"},
		"a list in brackets": {"sinks: [{name: old, kind: sqlite, into: x}]\n", "sinks:\n  - {name: old, kind: sqlite, into: x}\n" + entryAt("  ")},
	} {
		t.Run(name, func(t *testing.T) {
			at := config.Place{File: "v.yaml", Kinds: all.Kinds()}
			text, cfg, err := edit.PutSink(at, []byte(c.before), "stream", []byte(settings))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(text)); diff != "" {
				t.Error("text (-want +got):\n" + diff)
			}
			if last := cfg.Sinks[len(cfg.Sinks)-1]; last.Name != "stream" || last.URL != "kafka://a:1" {
				t.Errorf("the last one is %+v", last)
			}
			back, found, err := edit.Sink(text, "stream")
			if err != nil || !found || !strings.Contains(string(back), `"url":"kafka://a:1"`) {
				t.Errorf("read back: %s, %v", back, err)
			}
			text, cfg, err = edit.RemoveSink(at, text, "stream")
			if err != nil || strings.Contains(string(text), "stream") || strings.Contains(c.before, "old") != (len(cfg.Sinks) == 1) {
				t.Errorf("removed: %s, %v", text, err)
			}
		})
	}
}

func TestADestinationThatIsWrongIsNotPut(t *testing.T) {
	at := config.Place{File: "v.yaml", Kinds: all.Kinds()}
	for name, c := range map[string]struct{ settings, want string }{
		"an unknown key":          {`{"kind":"kafka","url":"kafka://a:1","colour":1}`, "colour: unknown key"},
		"an address of another":   {`{"kind":"kafka","url":"http://a:1"}`, "url: \"http://a:1\" is not an address for kafka"},
		"no object":               {`[]`, "must be a JSON object"},
		"a password in a address": {`{"kind":"kafka","url":"kafka://u:p@a:1"}`, "write them as user and password_file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := edit.PutSink(at, []byte("sinks:\n"+other), "stream", []byte(c.settings))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if list, is := errors.AsType[config.Problems](err); is && list[0].Line != 0 {
				t.Errorf("the problem is on line %d of a text that nobody has", list[0].Line)
			}
		})
	}
	if _, _, err := edit.RemoveSink(at, []byte("sinks:\n"+other), "stream"); !fault.Is(err, fault.NotFound) {
		t.Errorf("removing one that is not there: %v", err)
	}
}
