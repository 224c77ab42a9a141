package node_test

import (
	"encoding/json"
	"strings"
	"testing"

	api "voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/control"
	"voltbus/operation/schedules"
	"voltbus/schedule"
)

// holders says who holds the levels of a point, such as "schedule:warm@15=23".
func (r *running) holders(t testing.TB, path string) string {
	t.Helper()
	page, err := api.Do(wait(t), r.Client, control.List, control.Page{Pattern: path})
	if err != nil || len(page.Points) != 1 {
		t.Fatalf("the point %s is %+v, %v", path, page, err)
	}
	var out []string
	for _, s := range page.Points[0].Array {
		out = append(out, s.Requester+"="+string(s.Value))
	}
	return strings.Join(out, " ")
}

func TestAScheduleCommandsThroughControlAndPeopleWinUntilItsNextChange(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	put := func(level int, points ...string) (schedules.Kept, error) {
		s := schedule.Schedule{Name: "warm", Points: points, Default: json.RawMessage("23"), Level: level}
		s.Week.Monday = []schedule.Entry{{At: "06:00", Value: json.RawMessage("24")}}
		return api.Do(wait(t), r.Client, schedules.Put, schedules.NewSchedule{Schedule: s})
	}
	if _, err := put(3, "b/room1/setpoint"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "9 to 16") {
		t.Errorf("a schedule at level 3 gives %v", err)
	}
	if kept, err := put(0, "b/room1/setpoint", "b/none/setpoint"); err != nil || kept.Version != 1 || kept.By == "" || kept.Next == nil {
		t.Fatalf("the schedule is %+v, %v", kept, err)
	}
	eventually(t, "the schedule commands", func() bool { return r.holders(t, "b/room1/setpoint") == "schedule:warm=23" })
	r.hears(t, "control.command", "b/room1/setpoint", "accepted")
	eventually(t, "the point that is not there is told", func() bool {
		list, err := api.Do(wait(t), r.Client, schedules.List, struct{}{})
		return err == nil && len(list.Schedules[0].Problems) == 1 && list.Schedules[0].Problems[0].Point == "b/none/setpoint"
	})

	held, err := api.Do(wait(t), r.Client, schedules.HoldUntil, schedules.Hold{Schedule: "warm", Value: json.RawMessage("20"), Points: []string{"b/room1/setpoint"}})
	if err != nil || len(held.Results) != 1 || !held.Results[0].Wins || held.Results[0].Until == nil || held.Results[0].Until.Sub(held.Until).Abs().Seconds() > 60 {
		t.Fatalf("holding gives %+v, %v", held, err)
	}
	if got := r.holders(t, "b/room1/setpoint"); got != "person:admin=20 schedule:warm=23" {
		t.Errorf("then %s", got)
	}
	if _, err := api.Do(wait(t), r.Client, schedules.HoldUntil, schedules.Hold{Schedule: "warm", Value: json.RawMessage("20"), Points: []string{"b/room2/setpoint"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("holding a point of none gives %v", err)
	}

	r.halt()
	r = run(t, cfg)
	eventually(t, "both are there after a restart", func() bool {
		return r.holders(t, "b/room1/setpoint") == "person:admin=20 schedule:warm=23"
	})
	if _, err := api.Do(wait(t), r.Client, schedules.Delete, schedules.Name{Schedule: "warm"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a schedule that is deleted holds nothing", func() bool { return r.holders(t, "b/room1/setpoint") == "person:admin=20" })
}
