package node_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/alarms"
	"voltbus/point"
)

// alarmed returns the alarms as text, such as "hot@b/temp unacknowledged 85".
func (r *running) alarmed() string {
	r.t.Helper()
	list, err := client.Do(wait(r.t), r.Client, alarms.List, alarms.Page{})
	if err != nil {
		r.t.Fatal(err)
	}
	var texts []string
	for _, a := range list.Alarms {
		texts = append(texts, strings.TrimSpace(a.ID+" "+a.State+" "+a.Now))
	}
	return strings.Join(texts, ", ")
}

func (r *running) reads(path point.Path, value float64) {
	r.t.Helper()
	r.record([]point.Sample{{Point: path, Time: time.Now().UTC(), Value: point.FloatOf(value)}})
}

func TestAnAlarmIsRaisedAcknowledgedOnceAndSurvivesARestart(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	rule := alarms.NewRule{Rule: alarm.Rule{Name: "hot", Points: []string{"b/**"}, Check: alarm.High, Limit: new(80.0), Deadband: 5, Priority: alarm.Critical}}
	operator, _ := r.person("ada", identity.Operator)
	if _, err := client.Do(wait(t), operator, alarms.Put, rule); !fault.Is(err, fault.Refused) {
		t.Errorf("an operator writes a rule: %v", err)
	}
	if _, err := client.Do(wait(t), r.Client, alarms.Put, rule); err != nil {
		t.Fatal(err)
	}
	r.reads("b/temp", 85)
	eventually(t, "the alarm is open", func() bool { return r.alarmed() == "hot@b/temp unacknowledged 85" })
	if health := fmt.Sprint(r.Node.Health(t.Context()).Concerns); !strings.Contains(health, "critical alarm: b/temp is above 80") {
		t.Errorf("health says %s", health)
	}
	other, _ := r.person("ben", identity.Operator)
	errs := make([]error, 2)
	var group sync.WaitGroup
	for i, person := range []*client.Client{operator, other} {
		group.Go(func() {
			errs[i] = client.Tell(wait(t), person, alarms.Acknowledge, alarms.Act{Alarm: "hot@b/temp", Note: "on my way"})
		})
	}
	group.Wait()
	if conflicts := fault.Is(errs[0], fault.Conflict) != fault.Is(errs[1], fault.Conflict); !conflicts || (errs[0] != nil) == (errs[1] != nil) {
		t.Errorf("two who acknowledge at once are told %v and %v", errs[0], errs[1])
	}
	if err := client.Tell(wait(t), operator, alarms.Shelve, alarms.Shelving{Act: alarms.Act{Alarm: "hot@b/other"}, Seconds: 3600}); err != nil {
		t.Fatal(err)
	}
	r.halt()

	r = run(t, cfg)
	if got := r.alarmed(); !strings.HasPrefix(got, "hot@b/temp acknowledged") || !strings.Contains(got, "hot@b/other shelved") {
		t.Errorf("after a restart there are %q", got)
	}
	r.reads("b/temp", 74)
	eventually(t, "the alarm is normal", func() bool { return r.alarmed() == "hot@b/other shelved" })
	history, err := client.Do(wait(t), r.Client, alarms.History, alarms.Query{Alarm: "hot@b/temp"})
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, c := range history.Changes {
		events = append([]string{c.Event}, events...)
	}
	if got := strings.Join(events, " "); got != "opened acknowledged returned" {
		t.Errorf("the history is %q", got)
	}
}

func TestAnAlertThatIsOverWaitsToBeAcknowledged(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	agent := join(t, r, cfg, "boiler", identity.Grants{})
	if err := agent.Alert("hot", "critical", "too hot"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the alert is an alarm", func() bool { return r.alarmed() == "agent:boiler@hot unacknowledged" })
	if err := agent.ClearAlert("hot"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits", func() bool { return r.alarmed() == "agent:boiler@hot returned" })
	if err := client.Tell(wait(t), r.Client, alarms.Acknowledge, alarms.Act{Alarm: "agent:boiler@hot"}); err != nil {
		t.Fatal(err)
	}
	if got := r.alarmed(); got != "" {
		t.Errorf("left: %q", got)
	}
}

func TestARuleIsTriedBeforeItIsWritten(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	text := `[{"point": "b/warm", "value": 30}, {"point": "b/cold", "value": 5}]`
	if _, err := r.SendSamples(wait(t), client.Body{Media: "application/json", Text: []byte(text)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the values are stored", func() bool { return r.stored("b/warm") == 1 && r.stored("b/cold") == 1 })
	rule := alarm.Rule{Name: "hot", Points: []string{"b/*"}, Check: alarm.High, Limit: new(20.0), OnDelay: 600}
	tried, err := client.Do(wait(t), r.Client, alarms.Try, alarms.TriedRule{Rule: rule})
	if err != nil || tried.All != 2 || tried.Active != 1 || tried.Points[0].Point != "b/warm" {
		t.Errorf("tried: %+v, %v", tried, err)
	}
	if got := r.alarmed(); got != "" {
		t.Errorf("trying raised %q", got)
	}
	rule.OnDelay = 0
	if _, err := client.Do(wait(t), r.Client, alarms.Put, alarms.NewRule{Rule: rule}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a rule looks at values from before it", func() bool { return r.alarmed() == "hot@b/warm unacknowledged 30" })
	if err := client.Tell(wait(t), r.Client, alarms.Delete, alarms.RuleName{Rule: "hot"}); err != nil {
		t.Fatal(err)
	}
	frost := alarm.Rule{Name: "frost", Points: []string{"b/*"}, Check: alarm.Low, Limit: new(-5.0)}
	if _, err := client.Do(wait(t), r.Client, alarms.Put, alarms.NewRule{Rule: frost}); err != nil {
		t.Errorf("a limit below zero: %v", err)
	}
	if got := r.alarmed(); got != "" {
		t.Errorf("without the rule there is %q", got)
	}
}

func TestAParentSeesTheAlarmsOfAChildThatSaysNothingOfIt(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	rule := alarms.NewRule{Rule: alarm.Rule{Name: "hot", Points: []string{"b/**"}, Check: alarm.High, Limit: new(80.0)}}
	if _, err := client.Do(wait(t), p.child.Client, alarms.Put, rule); err != nil {
		t.Fatal(err)
	}
	p.child.reads("b/temp", 85)
	eventually(t, "the parent lists the alarm", func() bool {
		got, err := client.Do(wait(t), p.parent.Client, alarms.List, alarms.Page{})
		return err == nil && len(got.Alarms) == 1 && got.Alarms[0].Known && got.Alarms[0].State == "unacknowledged"
	})
	err := client.Tell(wait(t), p.parent.At("plant"), alarms.Acknowledge, alarms.Act{Alarm: "hot@b/temp"})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "missing: call node:alarm.acknowledge") {
		t.Errorf("acknowledging from the parent without uplink.allow: %v", err)
	}
}

func TestAlarmsOfAChildAreInTheListOfItsParentAndAreAcknowledgedFromThere(t *testing.T) {
	t.Parallel()
	p := newPair(t, `uplink: {allow: ["read **", "subscribe **", "call node"]}`+"\n")
	rule := alarms.NewRule{Rule: alarm.Rule{Name: "hot", Points: []string{"b/**"}, Check: alarm.High, Limit: new(80.0)}}
	if _, err := client.Do(wait(t), p.child.Client, alarms.Put, rule); err != nil {
		t.Fatal(err)
	}
	p.child.reads("b/temp", 85)
	var last alarms.Alarms
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the parent lists %+v", last)
		}
	})
	list := func() (alarms.Alarm, alarms.NodeAlarms) {
		got, err := client.Do(wait(t), p.parent.Client, alarms.List, alarms.Page{})
		if err != nil {
			t.Fatal(err)
		}
		if last = got; len(got.Alarms) != 1 || len(got.Nodes) != 1 {
			return alarms.Alarm{}, alarms.NodeAlarms{Reason: fmt.Sprint(got)}
		}
		return got.Alarms[0], got.Nodes[0]
	}
	eventually(t, "the parent lists the alarm", func() bool {
		a, n := list()
		return a.Node == "plant" && a.Known && a.State == "unacknowledged" && n.Known && n.Open == 1
	})
	if err := client.Tell(wait(t), p.parent.At("plant"), alarms.Acknowledge, alarms.Act{Alarm: "hot@b/temp", Note: "from above"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the parent lists that it is acknowledged", func() bool { a, _ := list(); return a.State == "acknowledged" && a.Note == "from above" })
	if got := p.child.alarmed(); got != "hot@b/temp acknowledged 85" {
		t.Errorf("the child has %q", got)
	}
	p.way.Lead("")
	p.way.Cut()
	eventually(t, "the parent says that it does not know", func() bool {
		a, n := list()
		return a.ID == "hot@b/temp" && !a.Known && !n.Known && n.At != nil && n.Reason != ""
	})
}
