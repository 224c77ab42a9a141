package node_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"voltbus/bus/client"
	"voltbus/control"
	"voltbus/identity"
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
	if err != nil || result.Output != control.Held || result.Reported != point.FloatOf(value) {
		t.Fatalf("the command gave %+v, %v", result, err)
	}
}

// recorded returns what the history has of a point, oldest first, with "bad" for what has no value.
func (r *running) recorded(path string) string {
	var values []string
	_, err := r.SQL(context.Background(), "SELECT coalesce(value::VARCHAR, 'bad') FROM samples WHERE point = '"+path+"' ORDER BY time", 100,
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
		return r.recorded("control/site/room/setpoint") == "23.0 21.0 bad"
	})
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
