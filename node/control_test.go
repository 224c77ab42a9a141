package node_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	web "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/control"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/people"
	"voltbus/point"
)

const room = listenAnywhere + `
devices:
  site/room:
    driver: sim
    interval: 1s
    control: [{points: [setpoint], default: 21, min: 15, max: 25}]
    config: {model: zone}
`

func command(t *testing.T, r *running, who, id string, value float64) {
	t.Helper()
	result, err := r.Control().Command(t.Context(), control.Command{
		ID: id, Point: "site/room/setpoint", Requester: who, Level: 10, Value: point.FloatOf(value),
	}, time.Minute)
	if err != nil || result.Output != control.Confirmed || result.Reported != point.FloatOf(value) {
		t.Fatalf("the command gave %+v, %v", result, err)
	}
}

// recorded returns what the history has of a point, oldest first, with "released" for what nobody commands, and "bad" for what else has no value.
func (r *running) recorded(path string) string {
	var values []string
	_, err := r.SQL(context.Background(), "SELECT coalesce(value::VARCHAR, CASE quality WHEN 136 THEN 'released' ELSE 'bad' END) FROM samples WHERE point = '"+path+"' ORDER BY time", 100,
		func([]string) error { return nil }, func(row []jsonRaw) error {
			var text string
			if json.Unmarshal(row[0], &text) != nil {
				text = string(row[0])
			}
			values = append(values, text)
			return nil
		})
	if err != nil {
		r.t.Error(err)
	}
	return strings.Join(values, " ")
}

func TestCommandsAreRecordedBesideTheMeasurement(t *testing.T) {
	r := run(t, load(t, t.TempDir(), room))
	command(t, r, "agent:tune", "1", 23)
	if _, err := r.Control().Release(t.Context(), "agent:tune", control.Selection{}, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the point is free", func() bool {
		v, err := r.Control().View(t.Context(), "site/room/setpoint")
		return err == nil && len(v.Array) == 0 && !v.Reverting
	})
	eventually(t, "the history has the commands", func() bool {
		return r.recorded("control/site/room/setpoint") == "23.0 21.0 released"
	})
	eventually(t, "the history has the level", func() bool {
		return r.recorded("control-level/site/room/setpoint") == "10.0 released"
	})
}

func TestNobodyElseRecordsWhatIsCommanded(t *testing.T) {
	cfg := load(t, t.TempDir(), room)
	r := run(t, cfg)
	agent := join(t, r, cfg, "forger", identity.Grants{Record: []point.Pattern{"**"}, Administer: true})
	for _, path := range []point.Path{"control", "control/site/room/setpoint", "control-level/site/room/setpoint"} {
		err := agent.Record(wait(t), []point.Sample{{Point: path, Time: time.Now(), Value: point.FloatOf(1)}}, "")
		if !fault.Is(err, fault.Refused) {
			t.Errorf("a sample of %s gives %v", path, err)
		}
	}
	if err := agent.Record(wait(t), []point.Sample{{Point: "controls/x", Time: time.Now(), Value: point.FloatOf(1)}}, ""); err != nil {
		t.Errorf("another point: %v", err)
	}
}

func (r *running) holds(who string) (ids string) {
	held, err := r.Control().Held(context.Background(), who)
	if err != nil {
		r.t.Error(err)
	}
	for _, slot := range held {
		ids += slot.Command + " "
	}
	return ids
}

func TestAnAgentWithFewerGrantsHoldsOnlyWhatItMayHold(t *testing.T) {
	cfg := load(t, t.TempDir(), room+strings.Replace(room[strings.Index(room, "  site/room"):], "site/room", "site/hall", 1))
	r := run(t, cfg)
	grants := func(pattern point.Pattern, level int) identity.Grants {
		return identity.Grants{Command: []identity.CommandGrant{{Path: pattern, Level: level}}}
	}
	join(t, r, cfg, "tune", grants("site/**", 8))
	for id, path := range map[string]point.Path{"room": "site/room/setpoint", "hall": "site/hall/setpoint"} {
		if _, err := r.Control().Command(wait(t), control.Command{
			ID: id, Point: path, Requester: "agent:tune", Level: 10, Value: point.FloatOf(20),
		}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	windows := []control.Window{{Path: "site/hall", From: time.Now().Add(time.Hour), Until: time.Now().Add(2 * time.Hour)}}
	if d, err := r.Control().Reserve(wait(t), control.Reservation{Requester: "agent:tune", Task: "later", Priority: control.Low, Windows: windows}); err != nil || d.Err != nil {
		t.Fatal(d.Err, err)
	}
	if _, err := r.Agents().SetGrants(wait(t), "tune", grants("site/room/**", 8)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only what is granted is held", func() bool {
		tasks, err := r.Control().Tasks(context.Background())
		return err == nil && r.holds("agent:tune") == "room " && len(tasks) == 0
	})
	if _, err := r.Agents().SetGrants(wait(t), "tune", grants("site/room/**", 11)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is held at a level that is not granted", func() bool { return r.holds("agent:tune") == "" })
}

func TestAPersonWithALesserRoleHoldsOnlyWhatTheRoleAllows(t *testing.T) {
	r := run(t, load(t, t.TempDir(), room))
	become := func(role string) {
		t.Helper()
		if _, err := web.Do(wait(t), r.Client, people.Set, people.Change{Person: people.Person{Name: "eve"}, Role: role, Password: "three wise old owls"}); err != nil {
			t.Fatal(err)
		}
	}
	become("engineer")
	for id, level := range map[string]control.Level{"urgent": 6, "usual": 8} {
		if _, err := r.Control().Command(wait(t), control.Command{
			ID: id, Point: "site/room/setpoint", Requester: "person:eve", Level: level, Value: point.FloatOf(20),
		}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	become("operator")
	eventually(t, "an operator holds no level of engineers", func() bool { return r.holds("person:eve") == "usual " })
	become("viewer")
	eventually(t, "a viewer holds nothing", func() bool { return r.holds("person:eve") == "" })
}

func TestAChangedConfigurationKeepsCommandsThatFit(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, room))
	command(t, r, "agent:tune", "1", 23)
	reload := func(text string) {
		t.Helper()
		if _, err := r.Reload(t.Context(), load(t, dir, text)); err != nil {
			t.Fatal(err)
		}
	}
	holds := func() int {
		held, err := r.Control().Held(t.Context(), "agent:tune")
		if err != nil {
			t.Fatal(err)
		}
		return len(held)
	}
	reload(strings.Replace(room, "max: 25", "max: 24", 1))
	if holds() != 1 {
		t.Error("a command that fits is gone")
	}
	reload(strings.Replace(room, "max: 25", "max: 22", 1))
	if holds() != 0 {
		t.Error("a command that does not fit is still there")
	}
}

func TestAnAgentHearsOfCommandsAndHoldsNothingOnceItIsRevoked(t *testing.T) {
	cfg := load(t, t.TempDir(), room)
	r := run(t, cfg)
	agent := join(t, r, cfg, "tune", identity.Grants{Subscribe: []point.Pattern{"control/**"}})
	heard := make(chan client.Message, 100)
	if _, err := agent.Messages("control/**", func(m client.Message) { heard <- m }); err != nil {
		t.Fatal(err)
	}
	command(t, r, "agent:tune", "1", 23)
	for {
		m := <-heard
		var event struct {
			Kind, Requester string
			Value           float64
		}
		if err := json.Unmarshal(m.Data, &event); err != nil || m.From != "node" || m.Topic != "control/site/room/setpoint" {
			t.Fatalf("heard %+v, %v", m, err)
		}
		if event.Kind == string(control.WriteConfirmed) && event.Requester == "agent:tune" && event.Value == 23 {
			break
		}
	}
	if _, err := r.Agents().Revoke(wait(t), "tune"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the point is free", func() bool {
		v, err := r.Control().View(t.Context(), "site/room/setpoint")
		return err == nil && len(v.Array) == 0 && v.Held == point.FloatOf(21)
	})
}

func TestAPointWithoutADefaultGoesBackToWhatItWas(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+"\ndevices: {site/room: {driver: sim, interval: 1s, config: {model: zone}}}\n"))
	view := func() control.View {
		v, err := r.Control().View(context.Background(), "site/room/setpoint")
		if err != nil {
			t.Error(err)
		}
		return v
	}
	eventually(t, "the point was read", func() bool { return view().Observed.Kind() != point.None })
	if v := view(); v.Spec.Default.Kind() != point.None || v.Spec.Revert != control.RevertBefore {
		t.Fatalf("the point is %+v", v.Spec)
	}
	before := view().Observed
	command(t, r, "agent:tune", "1", 24)
	if _, err := r.Control().Release(wait(t), "agent:tune", control.Selection{}, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the point is what it was", func() bool {
		v := view()
		return !v.Reverting && len(v.Array) == 0 && v.Reported == before
	})
}
