package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/control"
	"voltbus/identity"
	"voltbus/operation/alarms"
	"voltbus/operation/alerts"
	"voltbus/operation/children"
	controlop "voltbus/operation/control"
	"voltbus/operation/parent"
	"voltbus/operation/sinks"
	"voltbus/testing/link"
	"voltbus/testing/peers"
)

// scenes is a node that is well, and on which faults are played and mended.
type scenes struct {
	*faulty

	full    atomic.Bool // the destination takes nothing
	outside string      // its address
	line    *link.Link  // to the device
}

func newScenes(t *testing.T) *scenes {
	t.Helper()
	s := &scenes{}
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.full.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(outside.Close)
	s.outside = outside.URL
	peer := peers.Modbus(t)
	s.line = link.New(t)
	s.line.Lead(peer.Addr)
	s.faulty = &faulty{&commanded{run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
sinks: [{name: outside, kind: influxdb, url: %q, into: b, points: ["b/**"]}]
devices:
  site/plant:
    driver: modbus
    interval: 200ms
    control: [{points: [picky], approval: true}]
    config:
      address: %q
      timeout: 2s
      registry:%s`, outside.URL, s.line.Addr(), plantRegistry))), peer}}
	return s
}

// is waits until the node has a verdict with words, and compares what all places say then.
func (s *scenes) is(verdict, words string) {
	s.t.Helper()
	var h answer.Health
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("waited for %q, %q; health says %q, %q: %v", verdict, words, h.Verdict, h.Summary, h.Concerns)
		}
	})
	eventually(s.t, verdict+": "+words, func() bool {
		var err error
		if h, err = s.Client.Health(wait(s.t)); err != nil {
			s.t.Fatal(err)
		}
		return h.Verdict == verdict && strings.Contains(h.Summary, words)
	})
	s.alike()
}

func (s *scenes) isWell() {
	s.t.Helper()
	s.is("All is well", "The only device answers; ")
}

func (s *scenes) alarm(act string) {
	s.t.Helper()
	in := alarms.Act{Alarm: "hot@b/temp"}
	var err error
	switch act {
	case "shelve":
		err = client.Tell(wait(s.t), s.Client, alarms.Shelve, alarms.Shelving{Act: in, Seconds: 3600})
	case "unshelve":
		err = client.Tell(wait(s.t), s.Client, alarms.Unshelve, in)
	default:
		s.acknowledge(in.Alarm)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (r *running) acknowledge(id string) {
	r.t.Helper()
	if err := client.Tell(wait(r.t), r.Client, alarms.Acknowledge, alarms.Act{Alarm: id}); err != nil {
		r.t.Fatal(err)
	}
}

// mismatched is the alarm about points that do not have what they were set to.
const mismatched = "agent:node@control"

func TestOneVerdictThroughFaultsAndTheirMending(t *testing.T) {
	s := newScenes(t)
	s.isWell()
	rule := alarms.NewRule{Rule: alarm.Rule{Name: "hot", Points: []string{"b/temp"}, Check: alarm.High, Limit: new(80.0), Priority: alarm.PriorityLow}}
	if _, err := client.Do(wait(t), s.Client, alarms.Put, rule); err != nil {
		t.Fatal(err)
	}
	s.reads("b/temp", 85)
	s.is("Worth a look", "1 alarm is open (1 low)")
	s.alarm("shelve")
	s.isWell()
	s.alarm("unshelve")
	s.is("Worth a look", "1 alarm is open (1 low)")
	s.reads("b/temp", 20)
	s.is("Worth a look", "1 alarm is open (1 low)") // it is over, and nobody saw it
	s.alarm("acknowledge")
	s.isWell()

	s.full.Store(true)
	s.reads("b/temp", 21)
	s.is("Worth a look", "1 destination is behind or refuses readings")
	s.full.Store(false)
	s.isWell()

	s.set("cut", 700) // the device takes 500
	s.is("Worth a look", "1 alarm is open (1 medium); 1 point has another value than it was set to")
	s.set("cut", 400)
	s.is("Worth a look", "1 alarm is open (1 medium); the only device answers")
	s.acknowledge(mismatched)
	s.isWell()
	s.set("valve", 21)
	port := s.peer.Port()
	s.peer.Kill()
	s.becomes("valve", control.Unknown)
	now := 0.0
	if _, err := client.Do(wait(t), s.Client, controlop.Command, answer.NewCommands{Wait: &now, Commands: []answer.NewCommand{{Point: "site/plant/valve", Value: []byte("22")}}}); err != nil {
		t.Fatal(err)
	}
	s.is("Something is wrong", "1 alarm is open (1 medium); 1 command failed; 1 of 1 device does not answer (plant)")
	peers.Modbus(t, "--port", port)
	s.is("Worth a look", "1 alarm is open (1 medium); the only device answers")
	s.acknowledge(mismatched)
	s.isWell()
}

func TestOneVerdictAboutAgentsApprovalsAndNodes(t *testing.T) {
	s := newScenes(t)
	agent := join(t, s.running, s.Node.Config(), "boiler", identity.Grants{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(agent.Health("bad", "no flow", time.Minute))
	s.is("Worth a look", "1 agent does not work")
	must(agent.Health("good", "", time.Minute))
	s.isWell()
	must(agent.Alert("hot", "critical", "too hot"))
	s.is("Something is wrong", "1 alarm is open (1 high)")
	must(agent.ClearAlert("hot"))
	s.is("Worth a look", "1 alarm is open (1 high)")
	s.acknowledge("agent:boiler@hot")
	s.isWell()

	s.addsRegister(t)

	invited, err := client.Do(wait(t), s.Client, children.Invite, client.NewInvitation{}.Arguments())
	must(err)
	child, _ := named(t, "plant", listenNowhere)
	_, err = client.Do(wait(t), child.Client, parent.Join, parent.Code{Code: invited.Code, Name: ""})
	must(err)
	s.is("Worth a look", "1 node waits for approval")
	_, err = client.Do(wait(t), s.Client, children.Approve, children.Node{Name: "plant"})
	must(err)
	well := func() {
		t.Helper()
		s.is("All is well", "1 of 1 descendant is connected")
	}
	well()
	cfg := child.Node.Config()
	child.halt()
	s.is("Worth a look", "0 of 1 descendant is connected")
	run(t, cfg)
	well()
}

// addsRegister adds a point that the device does not have, and removes it again.
func (s *scenes) addsRegister(t *testing.T) {
	t.Helper()
	c, err := configurationOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.TrimRight(c.Text, "\n") + "\n        - {name: nothing, address: 92, table: holding, type: uint16}\n"
	applied, err := setConfig(t, s, wrong, c.Version, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.is("Worth a look", "1 of 1 device answers only in part (plant)")
	if _, err := setConfig(t, s, c.Text, applied.Version, 0); err != nil {
		t.Fatal(err)
	}
	s.isWell()
}

// counted says where a list shows another number than health counts, or the level is another than the concerns are; "" if nowhere.
func (f *faulty) counted(h *answer.Health) string {
	f.t.Helper()
	list, err := client.Do(wait(f.t), f.Client, alarms.List, alarms.Page{})
	if err != nil {
		f.t.Fatal(err)
	}
	lasting, err := client.Do(wait(f.t), f.Client, alerts.List, struct{}{})
	if err != nil {
		f.t.Fatal(err)
	}
	outside, err := client.Do(wait(f.t), f.Client, sinks.List, struct{}{})
	if err != nil {
		f.t.Fatal(err)
	}
	below, err := client.Do(wait(f.t), f.Client, children.List, struct{}{})
	if err != nil {
		f.t.Fatal(err)
	}
	rules, err := client.Do(wait(f.t), f.Client, alarms.Rules, struct{}{})
	if err != nil {
		f.t.Fatal(err)
	}
	unjudged := 0
	for i := range rules.Rules {
		if r := &rules.Rules[i]; r.Wrong != "" || len(r.Unjudged) > 0 {
			unjudged++
		}
	}
	c := h.Counts
	paused, pending := 0, 0
	for i := range outside.Sinks {
		if outside.Sinks[i].State != "ok" {
			paused++
		}
	}
	for i := range below.Children {
		if below.Children[i].State == "pending" {
			pending++
		}
	}
	fine := h.Level == "good" || h.Level == "wait"
	bad := slices.ContainsFunc(h.Concerns, func(c answer.Concern) bool { return c.Severity == "critical" })
	switch {
	case fine != (len(h.Concerns) == 0) || bad != (h.Level == "bad"):
		return "the level is " + h.Level
	case list.Open != c.Alarms:
		return fmt.Sprintf("%d alarms are listed", list.Open)
	case len(lasting.Alerts) > c.Alarms+c.AlarmsKept:
		return fmt.Sprintf("%d alerts are listed", len(lasting.Alerts))
	case paused != c.Destinations:
		return fmt.Sprintf("%d destinations are paused", paused)
	case pending != c.NodesPending:
		return fmt.Sprintf("%d children wait", pending)
	case unjudged != c.RulesUnjudged || (unjudged > 0) != strings.Contains(h.Summary, " cannot be judged"):
		return fmt.Sprintf("%d rules cannot be judged, by their list", unjudged)
	case (c.Alarms > 0) != strings.Contains(h.Summary, " open ("):
		return h.Summary
	}
	return ""
}
