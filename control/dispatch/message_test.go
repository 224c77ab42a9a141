package dispatch

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/point"
)

func TestAMessageIsWhatPackageJSONWrites(t *testing.T) {
	value := point.TextOf("<on>")
	at := time.Date(2026, 5, 4, 3, 2, 1, 5, time.UTC)
	full := Message{
		Kind: control.CommandStarted, Path: "site/x", Requester: "agent:a", Task: "t", Command: "1\"\n", Level: 8, Value: &value, Commanded: &value, Wish: &value,
		Cause: control.CauseExpired, By: "person:ada", Reason: "<cold>", From: at, Until: at, Write: 17, Fault: "timeout", Text: "a\x01b",
	}
	fields := reflect.ValueOf(full)
	for i := range fields.NumField() { // a field that is added is written, too
		if fields.Field(i).IsZero() {
			t.Errorf("the field %s is not tried", fields.Type().Field(i).Name)
		}
	}
	for _, m := range []Message{full, {Kind: control.TaskMade}} {
		want, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.JSON(); string(got) != string(want) {
			t.Errorf("wrote %s\nwant  %s", got, want)
		}
	}
}
