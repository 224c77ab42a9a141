package dispatch

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/point"
)

func TestADetailOfTheAuditLogIsWhatPackageJSONWrites(t *testing.T) {
	wins, yes, number := false, point.BoolOf(true), point.FloatOf(21.5)
	at := time.Date(2026, 5, 4, 3, 2, 1, 5, time.UTC)
	full := detail{
		ID: "1\"\n", Requester: "person:ada", Level: 8, Value: &number, Reported: &yes, Lease: "1h0m0s", Task: "t", Reason: "<cold>",
		Cause: control.CauseExpired, Why: control.WhyRange, Write: 17, Wins: &wins, Until: at, Later: at, Release: true, Fault: "invalid",
		Priority: control.High, Windows: []control.Window{{Path: "b/ahu", From: at, Until: at.Add(time.Hour)}},
		Holders: []control.Holder{{Requester: "agent:a"}}, Lost: []control.Holder{{Task: "x"}}, Failsafe: true, Spread: "10m0s",
		Fence: control.Fence{Group: "campus", Term: 7, Leader: "b"},
	}
	fields := reflect.ValueOf(full)
	for i := range fields.NumField() { // a field that is added is written, too
		if fields.Field(i).IsZero() {
			t.Errorf("the field %s is not tried", fields.Type().Field(i).Name)
		}
	}
	for _, x := range []detail{{}, full, {ID: "only"}, {Wins: &wins}} {
		want, err := json.Marshal(&x)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.json(); string(got) != string(want) {
			t.Errorf("wrote %s\nwant  %s", got, want)
		}
	}
}
