package node_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/alarms"
	controlop "voltbus/operation/control"
	"voltbus/operation/documents"
	"voltbus/operation/nodes"
	"voltbus/testing/link"
)

// rule writes a rule of alarms.
func (r *running) rule(rule alarm.Rule) {
	r.t.Helper()
	if _, err := client.Do(wait(r.t), r.Client, alarms.Put, alarms.NewRule{Rule: rule}); err != nil {
		r.t.Fatal(err)
	}
}

func TestOneVerdictAboutRulesThatCannotBeJudged(t *testing.T) {
	s := newScenes(t)
	s.isWell()
	s.rule(alarm.Rule{Name: "hot", Points: []string{"b/temp"}, Check: alarm.High, Limit: new(80.0)})
	s.is("Worth a look", "1 alarm rule cannot be judged; the only device answers")
	s.says("alarms", "hot", "the alarm rule hot cannot be judged: there is no point that it selects: b/temp")
	s.reads("b/temp", 20)
	s.isWell()
	s.rule(alarm.Rule{Name: "stuck-pump", Points: []string{"b/temp"}, Check: alarm.Discrepancy, Feedback: "b/missing"})
	s.says("alarms", "stuck-pump", "b/missing has no usable reading")
	s.reads("b/missing", 20)
	s.isWell()
	text := `{"name": "hot", "check": "hotter"}`
	hot := documents.Key{Owner: "shared", Name: "alarms/hot"}
	if _, err := client.Do(wait(t), s.Client, documents.Set, documents.Text{Key: hot, Text: &text, Type: "json"}); err != nil {
		t.Fatal(err)
	}
	s.says("alarms", "hot", "its document is wrong and not used: ")
	if err := client.Tell(wait(t), s.Client, alarms.Delete, alarms.RuleName{Rule: "hot"}); err != nil {
		t.Fatal(err)
	}
	s.isWell()
}

func TestOneVerdictAboutPeopleWhoCannotBeTold(t *testing.T) {
	s := newScenes(t)
	s.tells(fmt.Sprintf(`{"contacts": [{"name": "shift", "by": "webhook", "to": %q}], "steps": [{"tell": ["shift"]}], "least": "low"}`, s.outside))
	s.rule(alarm.Rule{Name: "hot", Points: []string{"b/temp"}, Check: alarm.High, Limit: new(80.0), Priority: alarm.PriorityLow})
	s.reads("b/temp", 20)
	s.isWell()
	s.full.Store(true)
	s.reads("b/temp", 85)
	s.says("alarms", "", "shift cannot be told of alarms, and is tried again: ")
	s.is("Something is wrong", "1 alarm is open (1 low)")
	s.full.Store(false)
	s.reads("b/temp", 20)
	s.acknowledge("hot@b/temp")
	if err := client.Tell(wait(t), s.Client, alarms.TestContact, alarms.Contact{Contact: "shift"}); err != nil {
		t.Fatal(err)
	}
	s.isWell()
}

// The device takes a command, and its answer is lost.
func TestOneVerdictAboutACommandThatIsNotConfirmed(t *testing.T) {
	s := newScenes(t)
	s.isWell()
	s.set("valve", 19)
	s.line.Hold(link.Down, true)
	now := 0.0
	if _, err := client.Do(wait(t), s.Client, controlop.Command, answer.NewCommands{Wait: &now, Commands: []answer.NewCommand{{Point: "site/plant/valve", Value: []byte("22")}}}); err != nil {
		t.Fatal(err)
	}
	s.is("Something is wrong", "1 command is not confirmed; 1 of 1 device does not answer (plant)")
	s.says("control", "site/plant/valve", "does not have what it was set to (unknown)")
	s.line.Hold(link.Down, false)
	s.is("Worth a look", "1 alarm is open (1 medium); the only device answers")
	s.acknowledge(mismatched)
	s.isWell()
}

func TestOneVerdictAboutACommandThatWaits(t *testing.T) {
	s := newScenes(t)
	s.isWell()
	s.set("picky", 2)
	s.is("Worth a look", "1 command waits for approval")
	s.says("approvals", "site/plant/picky", "waits for the approval of a second person")
}

// The parent does not run for a while, and the child is there all the time: whatever is told afterwards, it is no outage of the child that the
// parent saw, neither while the child is not back yet nor later.
func TestARestartedParentAssertsNoOutageThatItDidNotObserve(t *testing.T) {
	n := newTwoNodes(t, "", "devices:\n  hall: {driver: sim, interval: 200ms, config: {model: zone}}\n", identity.Grants{})
	well := func(f *faulty) {
		t.Helper()
		eventually(t, "all is well at the parent", func() bool { return f.Node.Health(wait(t)).Verdict == "All is well" })
		f.alike()
	}
	f := &faulty{&commanded{running: n.parent.running}}
	well(f)
	eventually(t, "the child has sent something", func() bool { r := f.nodeAt("plant").Received; return r != nil && r.Samples > 0 })
	n.way.Lead("")
	n.parent.halt()
	up := run(t, n.parent.cfg)
	f = &faulty{&commanded{running: up}}
	unseen := func(o answer.Outage) bool { return o.Unknown == nil || o.From.Before(up.Node.Health(wait(t)).Started) }
	eventually(t, "the parent says that the child is away, and since when nobody knows", func() bool {
		plant := f.nodeAt("plant")
		if i := slices.IndexFunc(plant.Outages, unseen); i >= 0 {
			t.Fatalf("it asserts %+v", plant.Outages[i])
		}
		if plant.Since != nil && plant.Since.Before(up.Node.Health(wait(t)).Started.Truncate(time.Second)) {
			t.Fatalf("it is said to be away since %v", plant.Since)
		}
		return plant.State == answer.NodeAway && len(plant.Outages) == 1
	})
	f.says("nodes", "plant", "is away")
	n.way.Lead(up.BusAddr())
	well(f)
	if list := f.nodeAt("plant").Outages; slices.ContainsFunc(list, unseen) {
		t.Errorf("afterwards it asserts %+v", list)
	}
	if list, err := client.Do(wait(t), up.Client, nodes.List, struct{}{}); err != nil || len(list.Nodes) != 2 || list.Nodes[1].State != answer.NodeOnline {
		t.Errorf("the list says %+v, %v", list, err)
	}
}
