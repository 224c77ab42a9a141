package node_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"voltbus/api/answer"
	api "voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/control"
	"voltbus/operation/timeline"
)

// sentences returns the sentences about a text, the newest first.
func (r *running) sentences(t testing.TB, page timeline.Page) (list []string) {
	t.Helper()
	out, err := api.Do(wait(t), r.Client, timeline.List, page)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Events {
		list = append(list, strings.TrimPrefix(e.Node+": "+e.Text, ": "))
	}
	return list
}

func TestWhatHappenedIsToldInSentencesAlsoAfterARestart(t *testing.T) {
	cfg := load(t, t.TempDir(), rooms)
	r := run(t, cfg)
	set := answer.NewCommands{Commands: answer.NewCommandList{{Point: "b/room1/setpoint", Value: json.RawMessage("22.5"), Reason: "cold"}, {Point: "b/room1/temperature", Value: json.RawMessage("1")}}}
	if _, err := api.Do(wait(t), r.Client, control.Command, set); err != nil {
		t.Fatal(err)
	}
	told := func() []string { return r.sentences(t, timeline.Page{Kind: "command"}) }
	want := []string{"admin set b/room1/setpoint to 22.5 (cold)", "b/room1/setpoint reports 22.5, as it was set"}
	eventually(t, "the command and its outcome are told", func() bool {
		list := told()
		return slices.Contains(list, want[0]) && slices.Contains(list, want[1]) && slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, "admin could not set b/room1/temperature to 1: ") })
	})
	r.halt()
	r = run(t, cfg)
	list := r.sentences(t, timeline.Page{})
	if n := slices.IndexFunc(list, func(s string) bool { return strings.HasPrefix(s, "The node started") }); n < 0 || !slices.Contains(list[n:], "The node stopped") || !slices.Contains(list[n:], want[0]) {
		t.Errorf("after the restart %q", list)
	}
	if list := r.sentences(t, timeline.Page{Text: "COLD"}); len(list) != 1 || list[0] != want[0] {
		t.Errorf("a search finds %q", list)
	}
	// Between two questions more may happen
	eventually(t, "pages of two tell what the list tells", func() bool { return slices.Equal(r.paged(t, 2), r.sentences(t, timeline.Page{})) })
}

// paged returns what happened, asked for in pages of a size.
func (r *running) paged(t *testing.T, size int) (told []string) {
	t.Helper()
	for page := (timeline.Page{Limit: size}); ; {
		out, err := api.Do(wait(t), r.Client, timeline.List, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Events {
			told = append(told, e.Text)
		}
		if out.Next == "" {
			return told
		}
		if err := page.To.UnmarshalJSON([]byte(`"` + out.Next + `"`)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatHappenedAtNodesBelowIsToldAtTheTop(t *testing.T) {
	c := plantChain(t, map[string]string{
		"campus": "uplink: {allow: [\"call plant/*\", \"call node:timeline.list\"]}\n",
		"plant":  commandedRooms + "uplink: {allow: [\"command site@8\", \"call node:timeline.list\"]}\n",
	}, map[string]identity.Grants{"plant": remoteCalls("region/tariff"), "campus": remoteCalls("tariff")})
	if done := set(t, join(t, c.region.running, c.region.cfg, "optimizer", remoteCalls("plant/node")), "room", "1", 23); done.Status != "accepted" {
		t.Fatalf("the command: %+v", done)
	}
	eventually(t, "the region tells what happened at the plant", func() bool {
		list := c.region.sentences(t, timeline.Page{Nodes: true})
		return slices.Contains(list, "plant: The agent region/optimizer set site/room/setpoint to 23") &&
			slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, "campus: The node started") })
	})
}
