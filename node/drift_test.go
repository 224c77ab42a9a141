package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/control"
	"voltbus/fault"
	alertsop "voltbus/operation/alerts"
	controlop "voltbus/operation/control"
	"voltbus/testing/peers"
)

// plantRegistry has the registers of testing/peers that a test changes, and those with a temper.
const plantRegistry = `
        - {name: valve, address: 100, table: holding, type: int16, scale: 0.1, writable: true, default: 18}
        - {name: cut, address: 200, table: holding, type: uint16, writable: true, default: 1}
        - {name: picky, address: 201, table: holding, type: uint16, writable: true, default: 1}
        - {name: busy, address: 202, table: holding, type: uint16, writable: true, default: 1}
        - {name: moody, address: 203, table: holding, type: uint16, writable: true, default: 10}
`

// commanded is a node with a Modbus server that nobody here wrote, and another master of that.
type commanded struct {
	*running
	peer *peers.Process
}

func newCommanded(t *testing.T, rules string) *commanded {
	t.Helper()
	peer := peers.Modbus(t)
	r := run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
devices:
  site/plant:
    driver: modbus
    interval: 200ms
    control: [%s]
    config:
      address: %q
      timeout: 2s
      registry:%s`, rules, peer.Addr, plantRegistry)))
	return &commanded{r, peer}
}

// turn writes a register as another master does, with a frame of its own: function 6 of Modbus TCP, which the
// device answers with the same.
func (c *commanded) turn(address, value uint16) {
	c.t.Helper()
	other, err := net.Dial("tcp", c.peer.Addr)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	frame := []byte{0, 1, 0, 0, 0, 6, 1, 6, byte(address >> 8), byte(address), byte(value >> 8), byte(value)}
	answer := make([]byte, len(frame))
	if _, err = other.Write(frame); err == nil {
		_, err = io.ReadFull(other, answer)
	}
	if err != nil || !bytes.Equal(answer, frame) {
		c.t.Fatalf("the device answers % x, %v", answer, err)
	}
}

func (c *commanded) set(point string, value float64) answer.Commanded {
	c.t.Helper()
	wait := 20.0
	list, err := client.Do(c.t.Context(), c.Client, controlop.Command, answer.NewCommands{Wait: &wait, Commands: []answer.NewCommand{
		{Point: "site/plant/" + point, Value: []byte(fmt.Sprint(value))},
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	return list.Results[0]
}

func (c *commanded) output(point string) (control.Output, string) {
	c.t.Helper()
	who, err := client.Do(context.Background(), c.Client, controlop.Who, controlop.Path{Path: "site/plant/" + point})
	if err != nil || len(who.Points) != 1 {
		c.t.Fatalf("who says %+v, %v", who, err)
	}
	return control.Output(who.Points[0].Output), string(who.Points[0].Reported)
}

func (c *commanded) becomes(point string, want control.Output) {
	c.t.Helper()
	var is control.Output
	var reported string
	defer func() {
		if is != want {
			c.t.Logf("%s is %s, and reports %s", point, is, reported)
		}
	}()
	eventually(c.t, point+" is "+string(want), func() bool { is, reported = c.output(point); return is == want })
}

func TestAttackAnotherMasterChangesACommandedRegister(t *testing.T) {
	c := newCommanded(t, "")
	if r := c.set("valve", 19.77); r.Output != "held" || string(r.Reported) != "19.8" {
		t.Fatalf("gives %+v", r)
	}
	c.turn(100, 250)
	c.becomes("valve", control.Mismatch)
	if _, reported := c.output("valve"); reported != "25" {
		t.Errorf("reports %s", reported)
	}
	eventually(t, "health and alerts say so", func() bool {
		alerts, err := client.Do(wait(t), c.Client, alertsop.List, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		said := c.Node.Health(wait(t)).Status == "degraded"
		for _, a := range alerts.Alerts {
			if said && a.Agent == "node" && strings.Contains(a.Text, "site/plant/valve (mismatch)") {
				return true
			}
		}
		return false
	})
	c.hears(t, "control.mismatch", "site/plant/valve", "another value")
	before, err := client.Do(wait(t), c.Client, alertsop.List, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Tell(wait(t), c.Client, alertsop.Clear, alertsop.Alert{Agent: "node", Key: "control"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("somebody clears what lasts: %v", err)
	}
	if list, err := client.Do(wait(t), c.Client, alertsop.List, struct{}{}); err != nil || len(list.Alerts) != 1 || !list.Alerts[0].First.Equal(before.Alerts[0].First) {
		t.Errorf("after somebody cleared what lasts: %+v, %v; before %+v", list, err, before)
	}
	if r := c.set("valve", 19.77); r.Output != "held" || string(r.Reported) != "19.8" {
		t.Errorf("the same command again gives %+v", r)
	}
	eventually(t, "the alert is over", func() bool {
		alerts, err := client.Do(wait(t), c.Client, alertsop.List, struct{}{})
		return err == nil && len(alerts.Alerts) == 0 && c.alarmed() == mismatched+" returned"
	})
	c.acknowledge(mismatched)
	eventually(t, "all is well", func() bool { return c.Node.Health(wait(t)).Status == "ok" })
}

func TestAttackADeviceThatRestartsLosesWhatItWasSetTo(t *testing.T) {
	c := newCommanded(t, "")
	c.set("valve", 21)
	port := c.peer.Port()
	c.peer.Kill()
	c.becomes("valve", control.Unknown)
	peers.Modbus(t, "--port", port) // with zeros
	c.becomes("valve", control.Confirmed)
	if _, reported := c.output("valve"); reported != "21" {
		t.Errorf("reports %s", reported)
	}
}

func TestADeviceThatRestartsIsLeftAloneWhereThatIsWished(t *testing.T) {
	c := newCommanded(t, "{points: [valve], default: 18, assert: never}")
	c.set("valve", 21)
	port := c.peer.Port()
	c.peer.Kill()
	c.becomes("valve", control.Unknown)
	peers.Modbus(t, "--port", port)
	c.becomes("valve", control.Mismatch)
	if _, reported := c.output("valve"); reported != "0" {
		t.Errorf("reports %s", reported)
	}
}

func TestAPointThatAlwaysAssertsIsWrittenAgain(t *testing.T) {
	c := newCommanded(t, "{points: [valve], default: 18, assert: always, assert_pause: 1s}")
	c.set("valve", 21)
	for range 2 {
		c.turn(100, 250)
		eventually(t, "it is written again", func() bool {
			list, err := client.Do(wait(t), c.Client, controlop.Get, controlop.Points{Points: []string{"site/plant/valve"}})
			return err == nil && string(list.Readings[0].Value) == "21"
		})
	}
	c.hears(t, "control.mismatch", "site/plant/valve", "another value")
}

func TestAttackATypingErrorMovesNoPlant(t *testing.T) {
	c := newCommanded(t, "")
	c.set("valve", 21)
	if r := c.set("valve", 99999); r.Status != "refused" || r.Error.Why != "range" || !strings.Contains(r.Error.Message, "3276.7") {
		t.Errorf("gives %+v", r)
	}
	c.set("picky", 500)
	r := c.set("picky", 2000)
	if r.Status != "failed" || r.Output != "failed" || r.Wins || r.Error == nil || r.Error.Kind != fault.Rejected.String() {
		t.Errorf("gives %+v, %+v", r, r.Error)
	}
	c.becomes("picky", control.Confirmed)
	for point, want := range map[string]string{"valve": "21", "picky": "500"} {
		if is, reported := c.output(point); is != control.Confirmed || reported != want {
			t.Errorf("%s is %v with %s, want %s", point, is, reported, want)
		}
	}
}

// Whatever exception the device answers with, a new command then is not there, and what was commanded before is.
func TestAttackADeviceThatIsBusyOrRefusesLeavesTheLevelAsItWas(t *testing.T) {
	c := newCommanded(t, "")
	for range 2 {
		c.declines("busy", 7, fault.Unavailable)
	}
	c.nobody("busy")
	if r := c.set("busy", 7); r.Status != "accepted" || r.Output != "held" {
		t.Errorf("gives %+v, %+v", r, r.Error)
	}
	c.set("moody", 500)
	for exception, kind := range map[float64]fault.Kind{
		1: fault.Rejected, 2: fault.Rejected, 3: fault.Rejected, 4: fault.Rejected, 6: fault.Unavailable,
	} {
		c.declines("moody", exception, kind)
		c.becomes("moody", control.Confirmed)
		who, err := client.Do(wait(t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/moody"})
		if err != nil || len(who.Points[0].Array) != 1 || string(who.Points[0].Array[0].Value) != "500" || string(who.Points[0].Reported) != "500" {
			t.Errorf("after exception %v the point is %+v, %v", exception, who.Points, err)
		}
	}
	if r := c.set("moody", 700); r.Status != "accepted" || r.Output != "held" || string(r.Reported) != "700" {
		t.Errorf("gives %+v, %+v", r, r.Error)
	}
}

// declines has the device say no to a command.
func (c *commanded) declines(point string, value float64, kind fault.Kind) {
	c.t.Helper()
	r := c.set(point, value)
	if r.Status != "failed" || r.Output != "failed" || r.Wins || r.Error == nil || r.Error.Kind != kind.String() || r.Error.Why != "declined" {
		c.t.Errorf("%s := %v gives %+v, %+v", point, value, r, r.Error)
	}
}

// nobody demands that nobody commands a point.
func (c *commanded) nobody(point string) {
	c.t.Helper()
	who, err := client.Do(wait(c.t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/" + point})
	if err != nil || len(who.Points) != 1 || len(who.Points[0].Array) != 0 {
		c.t.Errorf("who says %+v, %v", who, err)
	}
}

func TestADeviceThatCutsAValueIsSaidToDiffer(t *testing.T) {
	c := newCommanded(t, "")
	if r := c.set("cut", 700); r.Output != "differs" || string(r.Reported) != "500" {
		t.Errorf("gives %+v", r)
	}
	if h := c.Node.Health(wait(t)); h.Status != "degraded" {
		t.Errorf("health is %+v", h)
	}
}

// A simulated device forgets with the node.
func TestAttackARestartOfTheNodeWritesWhatSimulatedDevicesForgot(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, room))
	command(t, r, "agent:tune", "1", 23)
	r.halt()
	r = run(t, load(t, dir, room))
	eventually(t, "the room has what is commanded", func() bool {
		list, err := client.Do(wait(t), r.Client, controlop.Get, controlop.Points{Points: []string{"site/room/setpoint"}})
		return err == nil && string(list.Readings[0].Value) == "23"
	})
	eventually(t, "and is said to", func() bool {
		who, err := client.Do(wait(t), r.Client, controlop.Who, controlop.Path{Path: "site/room/setpoint"})
		return err == nil && len(who.Points) == 1 && who.Points[0].Output == "held"
	})
}

// An outstation made of opendnp3 is commanded, and then changed at its own panel: the device says so as an event. The
// node says that the point is not what it was commanded to, until it is commanded again.
func TestAttackAnOutstationIsChangedAtItsPanel(t *testing.T) {
	peer, port := peers.StartDNP3(t), peers.FreePort(t)
	peer.Do(t, "outstation %s", port)
	peer.Await(t, "serving")
	peer.Do(t, "set analogoutput 2 5 1")
	peer.Do(t, "set binaryoutput 1 0 1")
	c := &commanded{running: run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
devices:
  site/plant:
    driver: dnp3
    interval: 500ms
    subscribe: true
    config:
      address: 127.0.0.1:%s
      timeout: 2s
      registry:
        - {name: valve, type: analog_output, index: 2, writable: true, default: 5}
        - {name: pump, type: binary_output, index: 1, writable: true, default: 0}`, port)))}
	for point, value := range map[string]float64{"valve": 20, "pump": 1} {
		eventually(t, point+" is commanded", func() bool { // the peer misses a request that comes while it reports
			r := c.set(point, value)
			return r.Output == "held"
		})
	}
	peer.Do(t, "event analogoutput 2 25 1")
	c.becomes("valve", control.Mismatch)
	peer.Do(t, "set binaryoutput 1 0 1") // without an event: the scan finds it
	c.becomes("pump", control.Mismatch)
	if _, reported := c.output("valve"); reported != "25" {
		t.Errorf("the valve reports %s", reported)
	}
	c.hears(t, "control.mismatch", "site/plant/valve", "another value")
	c.hears(t, "control.mismatch", "site/plant/pump", "another value")
	eventually(t, "health says so", func() bool { return c.Node.Health(wait(t)).Status == "degraded" })
	for point, value := range map[string]float64{"valve": 20, "pump": 1} {
		eventually(t, point+" is commanded again", func() bool { return c.set(point, value).Output == "held" })
	}
	eventually(t, "the alert is over", func() bool { return c.alarmed() == mismatched+" returned" })
	c.acknowledge(mismatched)
	eventually(t, "all is well", func() bool { return c.Node.Health(wait(t)).Status == "ok" })
}
