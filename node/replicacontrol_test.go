package node_test

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/auditlog"
	"voltbus/operation/control"
	"voltbus/operation/people"
	"voltbus/operation/tokens"
)

func damperSite(m *flowMeter) string {
	return fmt.Sprintf(`
devices:
  site/damper:
    driver: modbus
    interval: 200ms
    config:
      address: %s
      unit: %%d
      registry: [{name: sp, table: holding, address: 0, type: uint16, writable: true}]
`, m.Addr())
}

const damperPoint = "site/damper/sp"

// is returns the value of the register, and how often a unit has written it.
func (m *flowMeter) is(unit int) (value uint16, writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, m.writes[unit]
}

func (s *replicaSet) unit(name string) int { return slices.Index(s.names, name) + 1 }

// command sets the point at a replica.
func (p *replicaProcess) command(t *testing.T, level, value int, lease float64) error {
	t.Helper()
	wait := 0.0
	out, err := client.Do(t.Context(), p.Client, control.Command, answer.NewCommands{Commands: []answer.NewCommand{{
		Point: damperPoint, Value: json.RawMessage(strconv.Itoa(value)), Level: level, Lease: lease,
	}}, Wait: &wait})
	if err == nil && out.Results[0].Status != "accepted" {
		err = fmt.Errorf("the result is %s: %+v", out.Results[0].Status, out.Results[0].Error)
	}
	return err
}

// commandSoon sets the point at a replica, as soon as somebody controls it.
func (p *replicaProcess) commandSoon(t *testing.T, level, value int, lease float64) {
	t.Helper()
	var err error
	eventually(t, "a command is accepted", func() bool {
		err = p.command(t, level, value, lease)
		return err == nil
	})
}

// levels returns what is held, as a replica says: values by level.
func (p *replicaProcess) levels(t *testing.T) map[int]string {
	page, err := client.Do(t.Context(), p.Client, control.List, control.Page{})
	i := slices.IndexFunc(page.Points, func(p answer.ControlPoint) bool { return p.Point == damperPoint })
	if err != nil || i < 0 {
		return nil
	}
	list := map[int]string{}
	for _, c := range page.Points[i].Array {
		list[c.Level] = string(c.Value)
	}
	return list
}

// becomes waits until the register has a value that a replica has written, and nobody else meanwhile.
func (s *replicaSet) becomes(t *testing.T, m *flowMeter, value uint16, writer string) {
	t.Helper()
	eventually(t, fmt.Sprint(writer, " sets ", value), func() bool {
		is, n := m.is(s.unit(writer))
		return is == value && n > 0
	})
}

// Commands that are held survive the end of the replica that controls, and run on at the next one.
func TestAnotherReplicaGoesOnWithHeldCommands(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.more = replicaThermostat
	for _, name := range s.names {
		s.configure(t, name)
	}
	s.share(t, damperSite(m))
	s.start(t, s.names...)
	first := s.soleReader(t, m, 0)
	s.anywhere(t, m, first)
	s.thermostat(t, first)
	s.processes[first].commandSoon(t, 16, 20, 0)
	s.processes[first].commandSoon(t, 8, 30, 0)
	s.becomes(t, m, 30, first)
	_, since := m.readers(0)
	const lease = 12
	begun := time.Now()
	s.processes[first].commandSoon(t, 5, 40, lease)
	s.becomes(t, m, 40, first)
	s.kill(first)

	_, since = m.readers(since)
	second := s.soleReader(t, m, since)
	if second == first {
		t.Fatalf("%s reads after it was killed", first)
	}
	eventually(t, "the next one knows what is held", func() bool {
		l := s.processes[second].levels(t)
		return l[8] == "30" && l[16] == "20"
	})
	s.becomes(t, m, 30, second)
	if ran := time.Since(begun); ran < lease*time.Second {
		t.Errorf("a lease of %v s ended after %v", lease, ran)
	}
	if _, err := client.Do(t.Context(), s.processes[second].Client, control.Release, answer.CommandSelection{Point: damperPoint, Level: 8}); err != nil {
		t.Fatal(err)
	}
	s.becomes(t, m, 20, second)
	s.start(t, first)

	stopped := s.processes[second].cmd.Process
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, since = m.readers(0)
	asked := make(chan error, 1)
	go func() { asked <- s.processes[second].command(t, 6, 60, 0) }() // it lies there until the process goes on
	third := s.soleReader(t, m, since)
	s.processes[third].commandSoon(t, 4, 50, 0)
	s.becomes(t, m, 50, third)
	_, before := m.is(s.unit(second))
	if err := stopped.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	t.Log("the stopped one answers", <-asked)
	s.processes[third].commandSoon(t, 4, 51, 0)
	s.becomes(t, m, 51, third)
	if _, after := m.is(s.unit(second)); after != before {
		t.Errorf("%s has written %d times after it lost control", second, after-before)
	}
}

// anywhere has each replica command the point, which one of them controls, with a token that only that replica knows.
func (s *replicaSet) anywhere(t *testing.T, m *flowMeter, controller string) {
	t.Helper()
	for i, name := range s.names {
		p := s.processes[name]
		token, err := client.Do(t.Context(), p.Client, tokens.IssueOwn, tokens.Own{Name: "program", Role: "operator"})
		if err != nil {
			t.Fatal(err)
		}
		session, err := client.Do(t.Context(), p.Client, people.Session, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		program := &replicaProcess{}
		if program.Client, err = client.New(p.http, token.Token, nil); err != nil {
			t.Fatal(err)
		}
		program.commandSoon(t, 16, 100+i, 0)
		s.becomes(t, m, uint16(100+i), controller)
		if l := p.levels(t); l[16] != strconv.Itoa(100+i) {
			t.Errorf("%s shows %v", name, l)
		}
		if err := program.command(t, 2, 7, 0); err == nil || !strings.Contains(err.Error(), "administrator") {
			t.Errorf("what an operator may not is answered %v by %s", err, name)
		}
		if _, err := client.Do(t.Context(), p.Client, control.Release, answer.CommandSelection{Point: damperPoint, Level: 16}); err != nil {
			t.Error(err)
		}
		told, err := client.Do(t.Context(), s.processes[controller].Client, auditlog.List, auditlog.Page{Filter: auditlog.Filter{Actor: "person:" + session.User, Action: "control.command", Search: strconv.Itoa(100 + i)}})
		if err != nil || len(told.Entries) == 0 {
			t.Errorf("the audit log does not know who commanded at %s: %v", name, err)
		}
	}
}

// replicaThermostat is one more template of MQTT devices.
const replicaThermostat = `    - name: thermostat
      topic: t/{device}/state
      device: home/{device}
      format: json
      points: [{name: setpoint, from: room.setpoint, type: float, set: {topic: "t/{device}/set/setpoint", to: room.setpoint, timeout: 5s, min: 5, max: 30}}]
`

// thermostat has an MQTT device commanded that is connected to another replica than the one that controls.
func (s *replicaSet) thermostat(t *testing.T, controller string) {
	t.Helper()
	p := s.processes[s.but(controller)[0]]
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.mqtt)
	if err != nil {
		t.Fatal(err)
	}
	newThermostat(t, conn, &paho.Connect{ClientID: "d1", CleanStart: true, KeepAlive: 60})
	wait := 10.0
	eventually(t, "a device of another replica confirms a command", func() bool {
		out, err := client.Do(t.Context(), p.Client, control.Command, answer.NewCommands{Commands: []answer.NewCommand{{
			Point: "home/d1/setpoint", Value: json.RawMessage("22"),
		}}, Wait: &wait})
		return err == nil && out.Results[0].Output == "held"
	})
	if _, err := client.Do(t.Context(), p.Client, control.Release, answer.CommandSelection{Point: "home/d1/setpoint", Level: 8}); err != nil {
		t.Error(err)
	}
}
