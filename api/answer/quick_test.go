package answer

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	someText  = rapid.OneOf(rapid.StringMatching(`[a-z/ ]{0,12}`), rapid.String())
	someValue = rapid.Map(rapid.SampledFrom([]string{`21`, `-2.5`, `true`, `"auto"`, `"a\"b"`, `1e3`, `{"a":[1,"]"]}`, `null`}), func(s string) json.RawMessage {
		return json.RawMessage(s)
	})
	someTime = rapid.Map(rapid.Int64Range(0, 1<<60), func(n int64) *time.Time {
		if n%3 == 0 {
			return nil
		}
		t := time.Unix(0, n).UTC()
		return &t
	})
)

// same reports whether two texts are the same JSON, as a struct has it.
func same[T any](t *rapid.T, got, want []byte) {
	t.Helper()
	var a, b T
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Fatalf("%s differs from %s: %s", got, want, diff)
	}
}

// scanned checks that what Scan takes is what package json reads.
func scanned[T any](t *rapid.T, text []byte, scan func(into *T, data []byte) bool) bool {
	t.Helper()
	var got, want T
	if !scan(&got, text) {
		return false
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s is taken, and package json says: %v", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s is read otherwise than by package json: %s", text, diff)
	}
	return true
}

func mustMarshal(t *rapid.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCommandsAreWrittenAndReadAsPackageJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := NewCommands{Commands: []NewCommand{}}
		for range rapid.IntRange(0, 3).Draw(t, "commands") {
			in.Commands = append(in.Commands, NewCommand{
				ID: someText.Draw(t, "id"), Point: someText.Draw(t, "point"), Value: someValue.Draw(t, "value"),
				Level: rapid.IntRange(-1, 17).Draw(t, "level"), Lease: rapid.Float64Range(-1, 1e9).Draw(t, "lease"),
				Reason: someText.Draw(t, "reason"), Task: someText.Draw(t, "task"),
				Fence: rapid.SampledFrom([]*Fence{nil, {}, {Group: "campus", Term: 1<<53 - 1}, {Group: "c\"", Term: 7, Leader: "b"}}).Draw(t, "fence"),
			})
		}
		if rapid.Bool().Draw(t, "waits") {
			in.Wait = new(rapid.Float64Range(0, 60).Draw(t, "wait"))
		}
		text := mustMarshal(t, in)
		same[NewCommands](t, in.AppendJSON(nil), text)
		scanned(t, mustMarshal(t, in.Commands), (*NewCommandList).Scan)
	})
}

func TestResultsAreWrittenAndReadAsPackageJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := CommandResults{Results: []Commanded{}}
		for range rapid.IntRange(0, 3).Draw(t, "results") {
			c := Commanded{
				ID: someText.Draw(t, "id"), Point: someText.Draw(t, "point"), Status: someText.Draw(t, "status"), Wins: rapid.Bool().Draw(t, "wins"),
				Until: someTime.Draw(t, "until"), Later: someTime.Draw(t, "later"), Repeat: rapid.Bool().Draw(t, "repeat"),
				Output: someText.Draw(t, "output"), Reported: someValue.Draw(t, "reported"),
			}
			if rapid.Bool().Draw(t, "fails") {
				c.Error = &ControlError{Kind: "refused", Message: someText.Draw(t, "message"), Holders: []Holder{{Requester: someText.Draw(t, "holder")}}}
			}
			in.Results = append(in.Results, c)
		}
		text := mustMarshal(t, in)
		same[CommandResults](t, in.AppendJSON(nil), text)
		scanned(t, text, (*CommandResults).Scan)
	})
}

func TestUsualCommandsAndResultsAreReadQuickly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if !scanned(t, []byte(`[{"id":"a","point":"site/x","value":21.5,"level":8,"lease":60,"reason":"r","task":"t"},{"point":"y","value":true}]`), (*NewCommandList).Scan) {
			t.Error("commands are left to package json")
		}
		if !scanned(t, []byte(`{"results":[{"id":"a","point":"site/x","status":"accepted","wins":true,"until":"2026-03-01T12:00:00.5Z","output":"held","reported":21.5}]}`), (*CommandResults).Scan) {
			t.Error("results are left to package json")
		}
		for _, text := range []string{
			`[{"point":"x","value":1,"colour":"red"}]`, `[{"point":"x","level":1.5}]`, `[{"point":5}]`,
			`[{"point":"x"}] x`, `[{"point":"x"}`, `[{"point":"x","level":"8"}]`, `{}`, ``, `null`,
		} {
			if scanned(t, []byte(text), (*NewCommandList).Scan) {
				t.Errorf("%s is taken", text)
			}
		}
	})
}

func FuzzCommandsAreReadAsPackageJSONDoes(f *testing.F) {
	f.Add([]byte(`[{"id":"a","point":"site/x","value":21.5,"level":8,"lease":60}]`))
	f.Add([]byte(`[{"level":1e1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want NewCommandList
		if !got.Scan(text) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q is taken, and package json says: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q is read otherwise: %s", text, diff)
		}
	})
}
