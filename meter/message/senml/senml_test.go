package senml_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/ingest"
	"voltbus/meter/message/senml"
)

const profile = "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"

func TestRecordsAreReadings(t *testing.T) {
	l, err := senml.Read(ingest.SenML, []byte(`[
		{"bn":"E1/1","bt":1772320500,"v":0.25},
		{"t":900,"v":0.5},
		{"bn":"","bt":0,"n":"E2/`+profile+`","t":1772320500,"v":3},
		{"n":"E2","t":1772320500,"v":3},
		{"n":"E2/1","t":-60,"v":3},
		{"n":"E2/1","v":3},
		{"n":"E2/0","t":1772320500,"v":3},
		{"n":"E2/1.2","t":1772320500,"v":3},
		{"n":"E2/1","t":1772320500,"vs":"3"},
		{"n":"E2/1","t":1772320500,"vb":true},
		{"n":"E2/1","t":1772320500},
		{"n":"E2/1","t":1772320500,"s":3},
		{"n":"`+strings.Repeat("x", 65)+`/1","t":1772320500,"v":3}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range l.Readings {
		got = append(got, fmt.Sprintf("%d %s %d %v %s %v", l.Place(i), r.Meter, r.Channel, r.Type.String() == profile, r.End.UTC().Format(time.RFC3339), r.Value))
	}
	want := []string{
		"0 E1 1 false 2026-02-28T23:15:00Z 0.25", "1 E1 1 false 2026-02-28T23:30:00Z 0.5", "2 E2 0 true 2026-02-28T23:15:00Z 3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	reasons := map[int]string{3: "name: write", 4: "time: missing", 5: "time: missing", 6: "channel:", 7: "readingType:", 8: "value: write", 9: "value: write", 10: "neither a value", 11: "channel:", 12: "64 bytes"}
	for _, r := range l.Refused {
		if why := reasons[r.Index]; why == "" || !strings.Contains(r.Reason, why) {
			t.Errorf("record %d is refused: %s", r.Index, r.Reason)
		}
		delete(reasons, r.Index)
	}
	if len(reasons) > 0 || l.Len() != 13 {
		t.Errorf("of %d records not refused: %v", l.Len(), reasons)
	}
}

func TestAttackPacksOfManyWrongRecordsAreRefusedAsAWhole(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"[" + strings.Repeat("{},", 1000) + "{}]", "1001 records cannot be read; the first is number 1"},
		{"{}", "array"},
		{"[", "body"},
	} {
		if l, err := senml.Read(ingest.SenML, []byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20s: %v, %v", tt.in, l, err)
		}
	}
}
