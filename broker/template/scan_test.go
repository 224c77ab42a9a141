package template

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"voltbus/broker/setting"
)

// direct is a template whose payloads need not be decoded as a whole.
func direct(t testing.TB) *Match {
	t.Helper()
	set, err := Compile([]setting.Template{{
		Name: "t", Topic: "t", Device: "d", Format: setting.JSON, Time: "ts", Points: []setting.Point{
			{Name: "temperature", Unit: "degC"},
			{Name: "air", From: "room.air.co2"},
			{Name: "second", From: "list[1].v"},
			{Name: "mode", Type: "text"},
			{Name: "on", Type: "bool"},
			{Name: "whole", From: "list"},
			{Name: "é", From: "é"},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !set.list[0].straight {
		t.Fatal("the template is not direct")
	}
	return set.Find("t")
}

func both(m *Match, payload []byte) (fast, slow string) {
	gather := func(take func([]byte, func(*Reading)) error) string {
		text := ""
		err := take(payload, func(r *Reading) {
			text += fmt.Sprintf("%s=%s %v %v\n", r.Name, r.Value.AppendJSON(nil), r.Quality, r.Time)
		})
		return fmt.Sprintf("%s%v", text, err)
	}
	return gather(m.takeDirect), gather(m.takeDecoded)
}

// Payloads that name values twice, in other orders, escaped, nested, missing or of other types.
func payloads() []string {
	return []string{
		`{"temperature":21.5,"room":{"air":{"co2":400}},"list":[1,{"v":"x"}],"mode":"eco","on":true,"ts":1772366400}`,
		` { "on" : false , "list" : [ ] , "temperature" : "7" , "temperature" : 8 } `, `{"room":{"air":[1]},"mode":"a\"b\\","ts":"soon"}`,
		`{"list":[{"v":1},{"v":2},{"v":3}],"\u00e9":1,"é":2,"room":null}`, `{}`, `[]`, `7`, `"x"`, `null`, `{"mode":"\ud83d\ude00 é","on":"maybe","temperature":{}}`,
		`{"temperature":1e400}`, `{"a":{"temperature":1},"b":"\\","temperature":-0.5E-3}`, `[1,{"v":2}]`, "{\"mode\":\"\xff\"}", `{"list":[[],{"x":1,"v":{"v":1}}]}`,
	}
}

func TestValuesFoundDirectlyAreThoseOfTheDecodedPayload(t *testing.T) {
	m := direct(t)
	for _, p := range payloads() {
		if fast, slow := both(m, []byte(p)); fast != slow {
			t.Errorf("%s: directly\n%s\nbut decoded\n%s", p, fast, slow)
		}
	}
}

func FuzzDirect(f *testing.F) {
	for _, p := range payloads() {
		f.Add([]byte(p))
	}
	m := direct(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		if !json.Valid(payload) || shallow(payload) != nil {
			return
		}
		if fast, slow := both(m, payload); fast != slow {
			t.Errorf("%q: directly\n%s\nbut decoded\n%s", payload, fast, slow)
		}
	})
}

func BenchmarkTake(b *testing.B) {
	m := direct(b)
	payload := []byte(`{"temperature":21.5,"pad":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`)
	for name, take := range map[string]func([]byte, func(*Reading)) error{
		"directly": func(p []byte, emit func(*Reading)) error { return m.Take(time.Time{}, "", p, emit) }, "decoded": m.takeDecoded,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := take(payload, func(*Reading) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
