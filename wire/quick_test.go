package wire_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/wire"
)

// What the quick reader takes is what encoding/json reads, and it takes nothing else.
func FuzzArgumentsAreReadAsEncodingJSONReadsThem(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `{"args":[]}`, `{"args":[1,-0.5,"a",null,true,{"a":[1,"]"]},[2]],"kwargs":{"x":1e3,"y":"\u00e4"}}`,
		`{"args":[1 2]}`, `{"args":[01]}`, `{"args":[1,]}`, `{"args":[nul]}`, `{"kwargs":{"a":1,"a":2}}`, `{"args":[1],"args":[2]}`,
		` { "args" : [ 1 , 2 ] } `, `{"args":[1]}x`, `{"args":null}`, `{"other":1}`, `{"ARGS":[1]}`, `{"args":["a\"]"]}`, `{"args":[{]}}`, `{"args":[-]}`, `{"args":[1.]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := wire.ParseArguments(body)
		var want wire.Arguments
		if err != nil || len(body) == 0 {
			return
		}
		if werr := json.Unmarshal(body, &want); werr != nil {
			if len(got.Args)+len(got.Kwargs) > 0 {
				t.Fatalf("%q is no JSON (%v), and read as %+v", body, werr, got)
			}
			return
		}
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
			t.Errorf("%q: %s", body, diff)
		}
	})
}

func texts(a wire.Arguments) map[string]string {
	all := map[string]string{}
	for i, raw := range a.Args {
		all[string(rune('0'+i))] = string(raw)
	}
	for name, raw := range a.Kwargs {
		all["name "+name] = string(raw)
	}
	return all
}

func FuzzScansAreReadAsEncodingJSONReadsThem(f *testing.F) {
	f.Add(wire.AppendScan(nil, exampleScan()))
	plain := exampleScan()
	plain.Samples = plain.Samples[:2]
	f.Add(wire.AppendScan(nil, plain))
	f.Add([]byte(`{"device":"a","time":"2026-01-02T03:04:05Z","points":{"x":1,"x":2}}`))
	f.Add([]byte(`{"device":"a","points":{"x":tru}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		scan, list, err := wire.ParseEntries(data)
		want, werr := wire.ParseScan(data)
		if (err == nil) != (werr == nil) {
			t.Fatalf("%q: %v, and encoding/json: %v", data, err, werr)
		}
		if err != nil {
			return
		}
		got := map[string]json.RawMessage{}
		for _, e := range list {
			got[e.Name] = e.Value
		}
		if scan.Device != want.Device || !scan.Time.Equal(want.Time) || !scan.Slot.Equal(want.Slot) || len(got) != len(want.Points) {
			t.Fatalf("%q: %+v, want %+v", data, scan, want)
		}
		for name, raw := range want.Points {
			if string(got[name]) != string(raw) {
				t.Errorf("%q: %s is %s, want %s", data, name, got[name], raw)
			}
		}
	})
}

func TestAnswersAreReadWithAndWithoutAnError(t *testing.T) {
	tests := []struct{ name, body, result, kind string }{
		{"a number", `{"result":7}`, "7", ""},
		{"an object", `{ "result" : {"a":[1,"}"]} }`, `{"a":[1,"}"]}`, ""},
		{"a text that is escaped", `{"result":"a\n"}`, `"a\n"`, ""},
		{"an error", `{"error":{"kind":"refused","message":"no"}}`, "", "refused"},
		{"an error behind a result", `{"result":null,"error":{"kind":"refused","message":"no"}}`, "null", "refused"},
		{"nothing", `{}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := wire.ParseReply([]byte(tt.body))
			if err != nil || string(r.Result) != tt.result || (r.Error == nil) != (tt.kind == "") || (r.Error != nil && r.Error.Kind != tt.kind) {
				t.Errorf("is %s, %+v, %v", r.Result, r.Error, err)
			}
		})
	}
	for _, body := range []string{``, `{"result":1`, `{"result":01}`, `{"result":1}}`, `{"result":{"a":}}`, `[]`} {
		if r, err := wire.ParseReply([]byte(body)); err == nil {
			t.Errorf("%q is read as %+v", body, r)
		}
	}
}

func FuzzAValueThatIsTakenIsJSON(f *testing.F) {
	for _, text := range []string{
		`[{"point":"a/b","value":[1,2.5,-3e7,true,null,{}]}]`, `{"a":{"b":[[],{"c":"d"}]}}`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `[01]`, `["\u00e9","é"]`,
		strings.Repeat("[", 20) + strings.Repeat("]", 20), strings.Repeat("[", 16) + "1" + strings.Repeat("]", 15), `[{"a":1}`, "[\"\x01\"]", `[nul]`, `[-]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := wire.NewReader(text)
		value, taken := r.Value()
		if taken && !json.Valid(value) {
			t.Errorf("%q is taken as a value of %q", value, text)
		}
		if trimmed := bytes.TrimSpace(text); !taken && json.Valid(text) && !bytes.ContainsRune(trimmed, '\\') && isASCII(trimmed) {
			t.Errorf("%q is not taken", text)
		}
	})
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c >= 0x80 })
}

func BenchmarkAListOfCommandsIsTaken(b *testing.B) {
	text := []byte(`{"commands":[{"point":"site/d1234/setpoint","value":21.5,"id":"QWERTYUIOPASDFGHJKLZXCVBNM","level":8}],"wait":10}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := wire.NewReader(text).Value(); !ok {
			b.Fatal("it is not taken")
		}
	}
}
