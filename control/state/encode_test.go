package state

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/control"
	"voltbus/point"
)

var anyValue = rapid.Custom(func(t *rapid.T) Value {
	return rapid.SampledFrom([]Value{
		{},
		{point.FloatOf(rapid.Float64().Draw(t, "float"))},
		{point.IntOf(rapid.Int64().Draw(t, "int"))},
		{point.BoolOf(true)},
		{point.TextOf(rapid.String().Draw(t, "text"))},
	}).Draw(t, "value")
})

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

func TestWhatIsWrittenOfAPointIsWhatPackageJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Point{
			Before: anyValue.Draw(t, "before"), Reverting: rapid.Bool().Draw(t, "reverting"), Failsafe: rapid.Bool().Draw(t, "failsafe"),
			Output: control.Output(anyText(t, "output")), Held: anyValue.Draw(t, "held"), Reported: anyValue.Draw(t, "reported"),
			Changed: anyTime.Draw(t, "changed"), Turned: anyTime.Draw(t, "turned"), Text: anyText(t, "text"),
			AssertAt: anyTime.Draw(t, "assert at"), AssertPause: time.Duration(rapid.Int64().Draw(t, "assert pause")),
		}
		if rapid.Bool().Draw(t, "sent") {
			s.Sent = &Write{
				rapid.Uint64().Draw(t, "id"), anyValue.Draw(t, "sent value"), rapid.Bool().Draw(t, "release"), rapid.Bool().Draw(t, "read"),
				control.Level(rapid.IntRange(0, 16).Draw(t, "sent level")), control.Cause(anyText(t, "cause")), anyText(t, "sent requester"), anyText(t, "sent command"),
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "commands") {
			s.Commands = append(s.Commands, Command{
				ID: anyText(t, "id"), Point: point.Path(anyText(t, "point")), Requester: anyText(t, "requester"), Task: anyText(t, "task"),
				Level: control.Level(rapid.IntRange(0, 16).Draw(t, "level")), Value: anyValue.Draw(t, "value"), Reason: anyText(t, "reason"),
				Lease: time.Duration(rapid.Int64().Draw(t, "lease")), Order: rapid.Uint64().Draw(t, "order"),
				Since: anyTime.Draw(t, "since"), Until: anyTime.Draw(t, "until"),
				Reverts: anyTime.Draw(t, "reverts"), Reverter: anyText(t, "reverter"),
				Fence: rapid.SampledFrom([]control.Fence{{}, {Group: "campus", Term: 7}, {Group: "c\"", Term: control.MaxTerm, Leader: "b"}}).Draw(t, "fence"),
			})
		}
		mustEqual(t, s.JSON(), s)
	})
}
