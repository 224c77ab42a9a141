package repeat

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/control"
	"voltbus/point"
)

var anyTime = rapid.Custom(func(t *rapid.T) time.Time {
	if rapid.Bool().Draw(t, "zero") {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(0, 1e10).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()
})

func anyText(t *rapid.T, name string) string { return rapid.String().Draw(t, name) }

// mustEqual compares what is written by hand with what package json writes, apart from its short escapes.
func mustEqual(t *rapid.T, got []byte, v any) {
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &a); err != nil || !reflect.DeepEqual(a, b) || len(got) < len(want) {
		t.Fatalf("wrote %s\nwant  %s", got, want)
	}
}

func TestWhatIsWrittenOfAnAnswerIsWhatPackageJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := answerState{
			Requester: anyText(t, "requester"), ID: anyText(t, "id"), Order: rapid.Uint64().Draw(t, "order"), Mark: rapid.Uint64().Draw(t, "mark"),
			Status: control.Status(anyText(t, "status")), Why: control.Why(anyText(t, "why")), Kind: anyText(t, "kind"), Subject: anyText(t, "subject"),
			Text: anyText(t, "text"), Until: anyTime.Draw(t, "until"), Later: anyTime.Draw(t, "later"), Wins: rapid.Bool().Draw(t, "wins"),
		}
		if rapid.Bool().Draw(t, "holders") {
			s.Holders = []control.Holder{{Requester: anyText(t, "holder"), From: anyTime.Draw(t, "from")}}
			s.Lost = []control.Holder{{Task: anyText(t, "lost")}}
		}
		var o point.Object
		if err := s.write(&o); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, o.JSON, s)
	})
}
