package node_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/documents"
	"voltbus/operation/metering"
)

func TestMissingReadingsAreListedByPriorityAndAge(t *testing.T) {
	mds := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	start := someDay(t)
	text := "rules: [{name: hospitals, meters: [\"hospital*\"], priority: 1}]\n"
	if _, err := client.Do(t.Context(), mds.Client, documents.Set, documents.Text{Key: documents.Key{Owner: "shared", Name: "metering/rules"}, Text: &text, Type: "yaml"}); err != nil {
		t.Fatal(err)
	}
	var list []answer.MeterEntry
	for _, id := range []string{"m1", "m2", "hospital"} {
		one := smartMeter(id)
		one.From = &start
		list = append(list, one)
	}
	if _, err := client.Do(t.Context(), mds.Client, metering.Register, metering.Registration{Meters: list}); err != nil {
		t.Fatal(err)
	}
	day := make([]float64, 96)
	for id, n := range map[string]int{"m1": 96, "m2": 94, "hospital": 95} {
		taken, err := client.Do(t.Context(), mds.Client, metering.Record, metering.Bulk{Readings: meterReadings(id, start, day[:n]...)})
		if err != nil || taken.Accepted != n {
			t.Fatalf("%+v, %v", taken, err)
		}
	}
	missingOf(t, mds.Client, "2026-03-03", 285)
	var got []string
	in := metering.ToRecover{From: "2026-03-02", To: "2026-03-04", Limit: 2}
	for page := 0; page == 0 || in.After != ""; page++ {
		gaps, err := client.Do(t.Context(), mds.Client, metering.Recovery, in)
		if err != nil || gaps.Gaps != 5 || gaps.Intervals != 3+3*96 || page > 2 {
			t.Fatalf("page %d: %+v, %v", page, gaps, err)
		}
		for i := range gaps.List {
			g := &gaps.List[i]
			got = append(got, strings.Join([]string{g.Meter, g.Day, g.First.In(start.Location()).Format("15:04")}, " "))
			if want := map[bool]int{true: 1, false: 5}[g.Meter == "hospital"]; g.Priority != want || g.Age <= 0 {
				t.Errorf("%+v", g)
			}
		}
		in.After = gaps.Next
	}
	if want := "hospital 2026-03-03 00:00,hospital 2026-03-04 00:15,m2 2026-03-03 23:45,m1 2026-03-04 00:15,m2 2026-03-04 00:15"; strings.Join(got, ",") != want {
		t.Errorf("in the order\n%v, want\n%v", strings.Join(got, ","), want)
	}
	for name, tt := range map[string]struct {
		in   metering.ToRecover
		want string
	}{
		"a day that has not ended": {metering.ToRecover{To: time.Now().AddDate(0, 0, 2).Format(time.DateOnly)}, "has not ended: write"},
		"days in the wrong order":  {metering.ToRecover{From: "2026-03-05", To: "2026-03-04"}, "2026-03-05 is after 2026-03-04"},
		"too many days":            {metering.ToRecover{From: "2025-03-05", To: "2026-03-04"}, "write at most 92"},
		"no day":                   {metering.ToRecover{From: "monday"}, "write year, month and day"},
		"no place":                 {metering.ToRecover{From: "2026-03-03", To: "2026-03-04", After: "m1"}, "write the place"},
	} {
		tt.in.Limit = 10
		if _, err := client.Do(t.Context(), mds.Client, metering.Recovery, tt.in); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
