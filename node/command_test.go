package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	api "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/auditlog"
	"voltbus/operation/control"
	"voltbus/point"
	"voltbus/wire"
)

const rooms = listenAnywhere + `
devices:
  - {path: b/room1, driver: sim, interval: 1s, config: {model: zone, seed: 1}}
  - {path: b/room2, driver: sim, interval: 1s, config: {model: zone, seed: 2}}
`

func commands(path point.Pattern) identity.Grants {
	return identity.Grants{Command: []identity.CommandGrant{{Path: path, Level: 10, Min: new(18.0), Max: new(26.0)}}}
}

func wish(path point.Path, value float64) client.Command {
	return client.Command{Point: path, Value: point.FloatOf(value), Lease: time.Hour}
}

// reserve reserves a point, a device or a branch from now on.
func reserve(t testing.TB, c *client.Client, task answer.NewTask, path string, until time.Time) (answer.Decided, error) {
	t.Helper()
	task.Windows = []answer.Window{{Path: path, To: until.UTC().Format(time.RFC3339Nano)}}
	return client.Do(wait(t), c, control.Reserve, task)
}

// release ends the own commands of a point.
func release(t testing.TB, c *client.Client, path string) error {
	t.Helper()
	_, err := client.Do(wait(t), c, control.Release, answer.CommandSelection{Point: path})
	return err
}

func TestAgentsCommandWhatTheyAreGranted(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	tune := join(t, r, cfg, "tune", commands("b/room1"))
	done, err := tune.Control().Write(wait(t), wish("b/room1/setpoint", 22.5))
	if err != nil || done.Status != "accepted" || !done.Wins || done.Output != "held" || string(done.Reported) != "22.5" || done.Until == nil {
		t.Errorf("gives %+v, %v", done, err)
	}
	read, err := client.Do(wait(t), tune, control.Get, control.Points{Points: []string{"b/room1/setpoint", "b/room2/setpoint", "b/room1/none"}})
	readings := read.Readings
	if err != nil || string(readings[0].Value) != "22.5" || readings[1].Error == nil || readings[1].Error.Missing != "read b/room2/setpoint" || readings[2].Error.Kind != "not-found" {
		t.Errorf("reads %+v, %v", readings, err)
	}
	urgent := wish("b/room1/setpoint", 20)
	urgent.Level = 9
	for capability, c := range map[string]client.Command{
		"command b/room2/setpoint@16": wish("b/room2/setpoint", 20), "command b/room1/setpoint@9": urgent,
		"command b/room1/setpoint@16": wish("b/room1/setpoint", 27),
	} {
		_, err := tune.Control().Write(wait(t), c)
		refusedFor(t, err, capability)
	}
	if _, err := reserve(t, tune, answer.NewTask{Task: "all"}, "b", time.Now().Add(time.Hour)); identity.MissingOf(err) != "command b@16" {
		t.Errorf("a reservation of too much gives %v", err)
	}
	r.hears(t, "control.command", "b/room2/setpoint", "missing: command b/room2/setpoint@16")
	if err := release(t, tune, "b/room1/setpoint"); err != nil {
		t.Error(err)
	}
	if err := release(t, tune, "b/room1/setpoint"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second release gives %v", err)
	}
}

// hears fails unless the audit log has an entry whose outcome holds the words.
func (r *running) hears(t testing.TB, action, subject, words string) {
	t.Helper()
	eventually(t, "the audit log tells of "+subject+": "+words, func() bool {
		page, err := api.Do(wait(t), r.Client, auditlog.List, api.AuditFilter{Action: action, Subject: subject}.Page())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(page.Entries, func(e answer.AuditEntry) bool { return strings.Contains(e.Outcome, words) })
	})
}

func TestManyCommandsAreEachAnswered(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	tune := join(t, r, cfg, "tune", commands("b/**"))
	list := []client.Command{wish("b/room1/setpoint", 21), wish("b/none/setpoint", 21), wish("b/room1/temp", 21), wish("b/room2/setpoint", 22)}
	for i := range list {
		list[i].ID = fmt.Sprint("many-", i)
	}
	for _, repeat := range []bool{false, true} {
		results, err := tune.Control().WriteMany(wait(t), list)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(results))
		for i := range results {
			got[i] = results[i].ID + " " + results[i].Status + " " + results[i].Output
			if results[i].Repeat != repeat {
				t.Errorf("%s: repeat is %v", results[i].ID, results[i].Repeat)
			}
		}
		if want := []string{"many-0 accepted held", "many-1 refused ", "many-2 refused ", "many-3 accepted held"}; !slices.Equal(got, want) {
			t.Errorf("gives %q", got)
		}
	}
	if _, err := tune.Control().WriteMany(wait(t), make([]client.Command, 10_001)); !fault.Is(err, fault.Invalid) {
		t.Errorf("too many give %v", err)
	}
}

func TestWhoStandsInTheWayIsSaid(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	first, second := join(t, r, cfg, "first", commands("b/**")), join(t, r, cfg, "second", commands("b/**"))
	until := time.Now().Add(time.Hour)
	if _, err := reserve(t, first, answer.NewTask{Task: "mine", Priority: "low", Reason: "a test"}, "b/room1", until); err != nil {
		t.Fatal(err)
	}
	_, reserving := reserve(t, second, answer.NewTask{Task: "theirs", Priority: "low"}, "b/room1/setpoint", until)
	_, writing := second.Control().Write(wait(t), wish("b/room1/setpoint", 20))
	for why, err := range map[string]error{"conflict": reserving, "reserved": writing} {
		f, ok := errors.AsType[*wire.Failure](err)
		if !ok || !fault.Is(err, fault.Conflict) || f.Why != why || !strings.Contains(string(f.Holders), `"requester":"agent:first","task":"mine","path":"b/room1"`) {
			t.Errorf("gives %v, %+v", err, f)
		}
	}
	who, err := client.Do(wait(t), second, control.Who, control.Path{Path: "b/room1/setpoint"})
	if err != nil || len(who.Tasks) != 1 || who.Tasks[0].Requester != "agent:first" || len(who.Points) != 1 || who.Points[0].Window == nil {
		t.Errorf("who says %+v, %v", who, err)
	}
	if _, err := client.Do(wait(t), second, control.Cancel, control.Task{Task: "mine"}); !fault.Is(err, fault.Refused) {
		t.Errorf("to cancel another's task gives %v", err)
	}
	if _, err := client.Do(wait(t), first, control.Cancel, control.Task{Task: "mine"}); err != nil {
		t.Error(err)
	}
	if list, err := client.Do(wait(t), first, control.Tasks, control.Span{}); err != nil || len(list.Tasks) != 0 {
		t.Errorf("the schedule is %+v, %v", list, err)
	}
}

func TestAHeldPointIsGivenBackWhenTheWorkEnds(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	tune := join(t, r, cfg, "tune", commands("b/**"))
	short := wish("b/room1/setpoint", 22)
	short.Lease = 6 * time.Second // renewed after two
	err := tune.Control().Hold(wait(t), short, func(ctx context.Context) error {
		before := r.until(t, "b/room1/setpoint")
		eventually(t, "it is renewed", func() bool { return ctx.Err() != nil || !r.until(t, "b/room1/setpoint").Equal(before) })
		return context.Cause(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if held, err := api.Do(wait(t), r.Client, control.Held, control.Requester{Requester: "agent:tune"}); err != nil || len(held.Commands) > 0 {
		t.Errorf("held are %+v, %v", held, err)
	}
	err = tune.Control().Hold(wait(t), short, func(ctx context.Context) error {
		if _, err := api.Do(ctx, r.Client, control.Release, answer.CommandSelection{Requester: "agent:tune", All: true}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("a lease that was lost gives %v", err)
	}
	if err := tune.Control().Hold(wait(t), client.Command{Point: "b/room1/setpoint", Value: point.FloatOf(20)}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("without a lease it gives %v", err)
	}
}

// until is when the first command of a point ends.
func (r *running) until(t testing.TB, path string) time.Time {
	t.Helper()
	who, err := api.Do(wait(t), r.Client, control.Who, control.Path{Path: path})
	if err != nil || len(who.Points) != 1 || len(who.Points[0].Array) != 1 || who.Points[0].Array[0].Until == nil {
		t.Fatalf("who says %+v, %v", who, err)
	}
	return *who.Points[0].Array[0].Until
}

func TestPeopleCommandByTheirRole(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	set := func(level int) answer.NewCommands {
		return answer.NewCommands{Commands: []answer.NewCommand{{Point: "b/room1/setpoint", Value: []byte("21"), Level: level}}}
	}
	for role, least := range map[identity.Role]int{identity.Viewer: 17, identity.Operator: 8, identity.Engineer: 5, identity.Administrator: 1} {
		token, err := r.Issue(t.Context(), identity.User{Name: role.String() + "1", Role: role})
		if err != nil {
			t.Fatal(err)
		}
		c, err := api.New(r.HTTPAddr(), token, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []int{1, 5, 8, 16} {
			out, err := api.Do(t.Context(), c, control.Command, set(level))
			refused := fault.Is(err, fault.Refused) || err == nil && out.Results[0].Status == "refused" && out.Results[0].Error.Kind == "refused"
			if refused != (level < least) {
				t.Errorf("%s at level %d: %+v, %v", role, level, out, err)
			}
		}
		if least <= 16 {
			if _, err := api.Do(t.Context(), c, control.Release, answer.CommandSelection{All: true}); err != nil {
				t.Error(err)
			}
		}
		_, err = api.Do(t.Context(), c, control.Release, answer.CommandSelection{All: true, Requester: "person:somebody"})
		if manages := role.Includes(identity.Engineer); (err == nil) != manages {
			t.Errorf("%s releases what others hold: %v", role, err)
		}
		if _, err := api.Do(t.Context(), c, control.List, control.Page{Pattern: "b/**", Busy: false, After: ""}); err != nil {
			t.Errorf("%s cannot look: %v", role, err)
		}
	}
}

func TestAnIdempotencyKeyNamesCommands(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	body := m{"commands": []m{{"point": "b/room1/setpoint", "value": 21}, {"point": "b/room2/setpoint", "value": "NaN", "id": "own"}}}
	for _, repeat := range []bool{false, true} {
		var out answer.CommandResults
		if p := r.call(r.token(), "POST", "/control/commands", body, &out); p.Kind != "" {
			t.Fatal(p)
		}
		if out.Results[1].ID != "own" || out.Results[1].Repeat != repeat || out.Results[1].Error.Why != "range" || !strings.Contains(out.Results[1].Error.Message, "NaN is not a value") {
			t.Errorf("gives %+v", out.Results[1])
		}
	}
	for _, wrong := range []m{
		{}, {"commands": []m{}}, {"commands": []m{{"point": "b"}}, "wait": 61}, {"commands": 1}, {"commands": []m{{"point": "b", "valve": 1}}},
	} {
		if p := r.call(r.token(), "POST", "/control/commands", wrong, nil); p.Kind != "invalid" {
			t.Errorf("%v gives %+v", wrong, p)
		}
	}
}

func TestWhatAPointDemandsIsSaidInSeconds(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms+`
  - path: b/room3
    driver: sim
    interval: 1s
    config: {model: zone, seed: 3}
    control:
      - points: [setpoint]
        default: 21
        min: 18
        max: 26
        lease: 1h
        rate: {most: 0.5, per: 1m}
        min_on: 90s
        interlocks: [{point: occupied, min: 1, from: 23}]
`))
	page, err := api.Do(t.Context(), r.Client, control.List, control.Page{Pattern: "b/room3/setpoint", Busy: false, After: ""})
	if err != nil || len(page.Points) != 1 {
		t.Fatalf("gives %+v, %v", page, err)
	}
	want := answer.Policy{
		Longest: 3600, Range: &answer.Limits{Min: new(18.0), Max: new(26.0)}, Rate: &answer.Rate{Most: 0.5, Per: 60}, MinOn: 90,
		Interlocks: []answer.Interlock{{Guards: &answer.Limits{Min: new(23.0)}, Other: "b/room3/occupied", Needs: answer.Limits{Min: new(1.0)}}},
	}
	if diff := cmp.Diff(&want, page.Points[0].Policy); diff != "" {
		t.Error(diff)
	}
	page, err = api.Do(t.Context(), r.Client, control.List, control.Page{Pattern: "b/room1/setpoint", Busy: false, After: ""})
	if err != nil || len(page.Points) != 1 || page.Points[0].Policy != nil && page.Points[0].Policy.Longest != 0 {
		t.Errorf("a point without rules gives %+v, %v", page, err)
	}
}

func TestEventsOfAPointComeWithReservationsAndOverridesAroundIt(t *testing.T) {
	for name, address := range map[string]string{
		"of control": "/control/events?pattern=b/room1/setpoint", "with live values": "/stream?pattern=b/room1/setpoint&control=true",
	} {
		t.Run(name, func(t *testing.T) { hearsOfItsPoint(t, address) })
	}
}

// hearsOfItsPoint fails unless a stream brings what happens to room1, and to no other room.
func hearsOfItsPoint(t *testing.T, address string) {
	t.Helper()
	r := run(t, load(t, t.TempDir(), rooms))
	req, err := http.NewRequestWithContext(wait(t), http.MethodGet, r.HTTPAddr()+"/api/v1"+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() { // it is connected
		t.Fatal(lines.Err())
	}
	for _, point := range []string{"b/room2/setpoint", "b/room1/setpoint"} {
		r.call(r.token(), "POST", "/control/commands", m{"commands": []m{{"point": point, "value": 21}}}, nil)
		r.call(r.token(), "POST", "/control/overrides", m{"pattern": "b/**", "failsafe": true}, nil)
		r.call(r.token(), "DELETE", "/control/overrides?pattern=b/**", nil, nil)
	}
	var heard []string
	for !slices.Contains(heard, "command-ended b/room1/setpoint") && lines.Scan() {
		var e answer.ControlEvent
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			heard = append(heard, e.Event+" "+e.Path)
		}
	}
	for _, want := range []string{"override-started b/**", "command-started b/room1/setpoint", "command-ended b/room1/setpoint"} {
		if !slices.Contains(heard, want) {
			t.Errorf("heard %q, and no %s", heard, want)
		}
	}
	if slices.ContainsFunc(heard, func(e string) bool { return strings.HasSuffix(e, "b/room2/setpoint") }) {
		t.Errorf("heard of another point: %q", heard)
	}
}
