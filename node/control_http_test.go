package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/control"
)

// person logs in with a role.
func (r *running) person(name string, role identity.Role) (*client.Client, string) {
	r.t.Helper()
	token, err := r.Issue(context.Background(), identity.User{Name: name, Role: role})
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := client.New(r.HTTPAddr(), token, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return c, token
}

// listen hears the events of control until the test ends.
func (r *running) listen(ctx context.Context, token, query string) <-chan answer.ControlEvent {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.HTTPAddr()+"/api/v1/control/events"+query, http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // whoever reads closes it
	if err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatal(res, err)
	}
	events, connected := make(chan answer.ControlEvent, 100), make(chan struct{})
	go func() {
		defer close(events)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			if lines.Text() == ": connected" {
				close(connected)
			}
			var e answer.ControlEvent
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is && json.Unmarshal([]byte(data), &e) == nil {
				events <- e
			}
		}
	}()
	<-connected
	return events
}

// hear waits for an event, and returns the kinds of those that came.
func (r *running) hear(events <-chan answer.ControlEvent, last string) string {
	r.t.Helper()
	var kinds []string
	for {
		select {
		case e, open := <-events:
			if kinds = append(kinds, e.Event); !open || e.Event == last {
				return strings.Join(kinds, " ")
			}
		case <-time.After(time.Minute):
			r.t.Fatalf("heard %q, and no %s", kinds, last)
		}
	}
}

func TestASecondPersonApprovesAndEverybodyHearsOfIt(t *testing.T) {
	r := run(t, load(t, t.TempDir(), strings.Replace(room, "max: 25", "max: 25, approval: true", 1)))
	eve, _ := r.person("eve", identity.Operator)
	ann, _ := r.person("ann", identity.Operator)
	vic, token := r.person("vic", identity.Viewer)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	events, others := r.listen(ctx, token, "?pattern=site/**"), r.listen(ctx, token, "?pattern=elsewhere/**")
	ask := func(id string) {
		t.Helper()
		out, err := client.Do(wait(t), eve, control.Command, answer.NewCommands{Commands: []answer.NewCommand{{Point: "site/room/setpoint", ID: id, Value: []byte("22"), Level: 8}}})
		if err != nil || out.Results[0].Status != "pending" {
			t.Fatalf("gives %+v, %v", out, err)
		}
	}
	judge := func(c *client.Client, id string, agree bool) error {
		_, err := client.Do(wait(t), c, control.Approve, answer.Approval{Requester: "person:eve", ID: id, Agree: &agree})
		return err
	}
	ask("first")
	for name, err := range map[string]error{"who asked": judge(eve, "first", true), "a viewer": judge(vic, "first", true)} {
		if !fault.Is(err, fault.Refused) {
			t.Errorf("%s approves: %v", name, err)
		}
	}
	if err := judge(ann, "none", true); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown command is approved: %v", err)
	}
	if err := judge(ann, "first", true); err != nil {
		t.Fatal(err)
	}
	if heard := r.hear(events, "write-confirmed"); heard != "approval-asked approval-ended command-started write-confirmed" {
		t.Errorf("heard %s", heard)
	}
	ask("second")
	if err := judge(ann, "second", false); err != nil {
		t.Fatal(err)
	}
	if heard := r.hear(events, "approval-ended"); heard != "approval-asked approval-ended" {
		t.Errorf("heard %s", heard)
	}
	if len(others) > 0 {
		t.Errorf("who listens elsewhere hears %+v", <-others)
	}
	list, err := client.Do(wait(t), vic, control.Waiting, control.Nothing{})
	if err != nil || len(list.Commands) > 0 {
		t.Errorf("there wait %+v, %v", list, err)
	}
}
