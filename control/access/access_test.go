package access

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
)

func TestARoleSaysWhichLevelsAPersonMayUse(t *testing.T) {
	for role, least := range map[identity.Role]int{
		identity.Nobody: 17, identity.Viewer: 17, identity.Operator: 8, identity.Engineer: 5, identity.Administrator: 1,
	} {
		who := Person("person:eve", role)
		for level := 1; level <= 16; level++ {
			err := who.Command("b/x", level, point.FloatOf(1))
			if (err == nil) != (level >= least) || err != nil && !fault.Is(err, fault.Refused) {
				t.Errorf("%v at level %d: %v", role, level, err)
			}
		}
		if may := who.Reserve("b") == nil; may != (least <= 8) {
			t.Errorf("%v reserves: %v", role, may)
		}
		if who.Manages != role.Includes(identity.Engineer) || who.See("b/x") != nil || who.Level != PersonLevel {
			t.Errorf("%v is %+v", role, who)
		}
	}
}

func TestAnAgentSeesWhatItMayReadOrCommand(t *testing.T) {
	who := Agent(&registry.Agent{Name: "tune", Grants: identity.Grants{
		Read: []point.Pattern{"b/read"}, Command: []identity.CommandGrant{{Path: "b/set", Level: 10, Max: new(5.0)}},
	}})
	for path, may := range map[point.Path]bool{"b/read": true, "b/set": true, "b/none": false, "b": false} {
		if (who.See(path) == nil) != may {
			t.Errorf("sees %s: %v, want %v", path, !may, may)
		}
	}
	for _, tt := range []struct {
		path  point.Path
		level int
		value float64
		may   bool
	}{{"b/set", 10, 5, true}, {"b/set", 9, 5, false}, {"b/set", 10, 6, false}, {"b/read", 16, 1, false}} {
		if err := who.Command(tt.path, tt.level, point.FloatOf(tt.value)); (err == nil) != tt.may {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if who.Name != "agent:tune" || who.Manages || who.Level != AgentLevel {
		t.Errorf("is %+v", who)
	}
}

// What is malformed is refused before a dispatcher is asked, so that there is none here.
func TestWhatIsMalformedIsRefusedWithWhatToWrite(t *testing.T) {
	var refused []Refusal
	a := New(Config{Refused: func(r Refusal) { refused = append(refused, r) }})
	who := Person("person:eve", identity.Operator)
	commands := func(c ...answer.NewCommand) *answer.NewCommands { return &answer.NewCommands{Commands: c} }
	late := 61.0
	for words, in := range map[string]*answer.NewCommands{
		"must be a list of commands": commands(),
		"more than 10000":            commands(make([]answer.NewCommand, MaxCommands+1)...),
		"from 0 to 60":               {Commands: make([]answer.NewCommand, 1), Wait: &late},
	} {
		if _, err := a.Command(context.Background(), who, in); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	for words, in := range map[string]answer.NewCommand{
		"hundred years":       {Point: "b/x", Value: []byte("1"), Lease: -1},
		"more than 255 bytes": {Point: "b/x", Value: []byte("1"), ID: strings.Repeat("x", 256)},
		"there is no value":   {Point: "b/x"},
		"role engineer":       {Point: "b/x", Value: []byte("1"), Level: 7},
	} {
		_, err := a.command(who, &in)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v gives %v, want %q", in, err, words)
		}
	}
	if _, err := a.command(who, &answer.NewCommand{Point: "", Value: []byte("1")}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path that is none gives %v", err)
	}
	if len(refused) != 1 || refused[0].Who != "person:eve" || refused[0].Subject != "b/x" {
		t.Errorf("the audit log is told %+v", refused)
	}
	if c, err := a.command(who, &answer.NewCommand{Point: "b/x", Value: []byte(`"NaN"`), Lease: 0.5}); err != nil || c.Level != PersonLevel ||
		c.ID == "" || c.Lease != time.Second/2 || c.Value.Kind() != point.Float {
		t.Errorf("a command is %+v, %v", c, err)
	}
	if _, err := a.Get(context.Background(), who, make([]string, MaxPoints+1)); !fault.Is(err, fault.Invalid) {
		t.Errorf("too many points give %v", err)
	}
	if _, err := seconds("lease", math.NaN()); !fault.Is(err, fault.Invalid) {
		t.Errorf("NaN seconds give %v", err)
	}
	if l := level(99, 8); l <= control.Levels {
		t.Errorf("level 99 is %d", l)
	}
}

func TestOnlyWhoManagesEndsWhatOthersHold(t *testing.T) {
	a := New(Config{})
	for role, may := range map[identity.Role]bool{identity.Operator: false, identity.Engineer: true} {
		of, by, err := a.holder(Person("person:eve", role), "agent:tune", "control.release")
		if (err == nil) != may || may && (of != "agent:tune" || by != "person:eve") {
			t.Errorf("%v: of %q by %q, %v", role, of, by, err)
		}
	}
	if _, err := a.Release(context.Background(), Person("person:eve", identity.Operator), &answer.CommandSelection{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a selection of nothing gives %v", err)
	}
}

// A role that is enough, by a link that is not: the capability says what is missing there.
func TestWhatANeighbourMayNotCarryIsNamed(t *testing.T) {
	a := New(Config{})
	for role, missing := range map[identity.Role]string{identity.Operator: "", identity.Engineer: "administer"} {
		who := Person("person:campus/eve", role).Within(RemoteCaller("person:campus/eve", &identity.Grants{}))
		_, _, err := a.holder(who, "agent:tune", "control.release")
		_, reverts := a.Revert(context.Background(), who, &answer.Revert{Path: "b"})
		for _, err := range []error{err, reverts} {
			if !fault.Is(err, fault.Refused) || identity.MissingOf(err) != missing {
				t.Errorf("%v: %v, want %q to be missing", role, err, missing)
			}
		}
	}
}

// reserved is a dispatcher at which somebody has reserved a branch.
type reserved struct {
	Dispatcher

	path point.Path
}

func (r reserved) Tasks(context.Context) ([]control.Task, error) {
	window := control.Window{Path: r.path}
	return []control.Task{{Reservation: control.Reservation{ID: "tests", Requester: "agent:tune", Windows: []control.Window{window}}, Active: []control.Window{window}}}, nil
}

func TestCountersAreFrozenByWhoMayAndWhileNobodyElseHasReservedThem(t *testing.T) {
	frozen := 0
	freeze := func(_ context.Context, path point.Path, _ bool) ([]point.Sample, error) {
		frozen++
		return []point.Sample{{Point: path.Join("frozen"), Value: point.IntOf(7), Time: time.Now()}}, nil
	}
	for _, tt := range []struct {
		who  *Who
		path point.Path
		want fault.Kind
	}{
		{Person("person:eve", identity.Viewer), "c", fault.Refused},
		{Person("person:eve", identity.Operator), "b/meter", fault.Conflict},
		{Person("person:eve", identity.Operator), "b/meter/part", fault.Conflict},
		{Person("person:eve", identity.Operator), "b", fault.Conflict},
		{Person("agent:tune", identity.Operator), "b/meter", fault.Internal},
		{Person("person:eve", identity.Operator), "b/other", fault.Internal},
	} {
		before := frozen
		out, err := New(Config{Dispatcher: reserved{path: "b/meter"}, Freeze: freeze}).Freeze(t.Context(), tt.who, &answer.Freeze{Device: string(tt.path)})
		switch {
		case tt.want != fault.Internal:
			if !fault.Is(err, tt.want) || frozen != before {
				t.Errorf("%s freezes %s: %v", tt.who.Name, tt.path, err)
			}
		case err != nil || len(out.Readings) != 1 || string(out.Readings[0].Value) != "7":
			t.Errorf("%s freezes %s: %+v, %v", tt.who.Name, tt.path, out, err)
		}
	}
}
