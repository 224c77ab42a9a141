package presence_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/presence"
)

// open returns a room that keeps its alerts in the directory.
func open(t *testing.T, dir string) (*presence.AgentHealth, *catalog.Catalog) {
	t.Helper()
	c, err := catalog.Open(t.Context(), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r, err := presence.Open(t.Context(), c, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// memory keeps alerts in memory, which virtual time can pass beside.
type memory struct{ presence.Keeper }

func (memory) Alerts(context.Context) ([]presence.Alert, error) { return nil, nil }

func TestAnAgentIsAsItSaysUntilItIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := presence.Open(t.Context(), memory{}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		status := func(want presence.Status) {
			t.Helper()
			if got := r.Look("boiler", since).Status; got != want {
				t.Errorf("status is %s, not %s", got, want)
			}
		}
		status(presence.Unknown)
		if err := r.Health("boiler", []byte(`{"status":"good","context":{"why":1},"interval":10}`)); err != nil {
			t.Fatal(err)
		}
		status(presence.Good)
		<-time.After(30 * time.Second)
		status(presence.Good)
		<-time.After(time.Second)
		status(presence.Silent)
		if err := r.Health("boiler", []byte(`{"status":"bad"}`)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		status(presence.Bad) // it promised no next word
		if got := r.Look("boiler", time.Time{}).Status; got != presence.Offline {
			t.Errorf("without a connection it is %s", got)
		}
		r.Forget("boiler")
		status(presence.Unknown)
	})
}

func TestHealthThatIsNoneSaysWhatItShouldBe(t *testing.T) {
	r, c := open(t, t.TempDir())
	defer c.Close()
	tests := []struct{ name, message, want string }{
		{"no object", `7`, "such as"},
		{"no status", `{}`, "good, bad, starting or unknown"},
		{"a status that agents cannot have", `{"status":"silent"}`, "not a status"},
		{"a negative interval", `{"status":"good","interval":-1}`, "seconds from 0"},
		{"an interval of years", `{"status":"good","interval":1e9}`, "seconds from 0"},
		{"a context of a megabyte", `{"status":"good","context":"` + strings.Repeat("x", 1<<20) + `"}`, "say it shorter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := r.Health("boiler", []byte(tt.message))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("gives %v", err)
			}
		})
	}
}

func TestAnAlertIsOpenUntilItIsCleared(t *testing.T) {
	r, c := open(t, t.TempDir())
	defer c.Close()
	var told []string
	stop := r.Watch(func(a presence.Alert) { told = append(told, fmt.Sprintf("%s %d %v", a.Key, a.Count, a.Cleared)) })
	for _, m := range []struct{ agent, key, message string }{
		{"boiler", "hot", `{"text":"too hot","since":"2026-01-02T03:04:05Z"}`},
		{"boiler", "hot", `{"text":"still too hot","severity":"critical"}`},
		{"meter", "hot", `{"text":"mine","severity":"info"}`},
		{"meter", "cold/er", `{"key":"cold/er","text":"x"}`},
		{"meter", "cold/er", `{"cleared":true}`},
		{"meter", "never raised", `{"cleared":true}`},
	} {
		if err := r.Alert(m.agent, m.key, []byte(m.message)); err != nil {
			t.Fatal(err)
		}
	}
	list := r.List()
	if len(list) != 2 || list[0].Agent != "boiler" || list[0].Count != 2 || list[0].Text != "still too hot" ||
		!list[0].First.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || !list[0].Last.After(list[0].First) ||
		list[1].Agent != "meter" || list[1].Severity != presence.Info {
		t.Errorf("open are %+v", list)
	}
	if err := r.Alert("boiler", "hot", []byte(`{"cleared":true}`)); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := r.Doubt(t.Context(), "boiler", "hot", func() error { return nil }); !fault.Is(err, fault.NotFound) {
		t.Errorf("clearing it again gives %v", err)
	}
	if err := r.Alert("meter", "hot", []byte(`{"cleared":true}`)); err != nil || len(r.List()) != 0 {
		t.Errorf("%v, open are %+v", err, r.List())
	}
	want := []string{"hot 1 false", "hot 2 false", "hot 1 false", "cold/er 1 false", "cold/er 1 true", "hot 2 true"}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
}

func TestOpenAlertsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	r, c := open(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	for _, key := range []string{"a", "b", "c"} {
		if err := r.Alert("boiler", key, []byte(`{"text":"so"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Alert("boiler", "b", []byte(`{"cleared":true}`)); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := r.List()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again, c := open(t, dir)
	defer c.Close()
	if d := cmp.Diff(want, again.List()); d != "" || len(want) != 2 {
		t.Errorf("after the restart: %s", d)
	}
}

func TestAlertsThatAreNoneSayWhatTheyShouldBe(t *testing.T) {
	r, c := open(t, t.TempDir())
	defer c.Close()
	tests := []struct{ name, key, message, want string }{
		{"no object", "k", `[]`, "such as"},
		{"no key", "", `{"text":"x"}`, "alert/<key>"},
		{"two keys", "k", `{"text":"x","key":"l"}`, "leave it out"},
		{"no text", "k", `{}`, "a text"},
		{"a strange severity", "k", `{"text":"x","severity":"fatal"}`, "info, warning or critical"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := r.Alert("boiler", tt.key, []byte(tt.message))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("gives %v", err)
			}
		})
	}
	if r.Refused() != uint64(len(tests)) {
		t.Errorf("%d were counted", r.Refused())
	}
}

func TestAnAgentHasSoManyOpenAlertsAndNoMore(t *testing.T) {
	r, c := open(t, t.TempDir())
	defer c.Close()
	var err error
	n := 0
	for ; n < 2000 && err == nil; n++ {
		err = r.Alert("boiler", fmt.Sprint(n), []byte(`{"text":"x"}`))
	}
	if n != 1001 || !fault.Is(err, fault.Unavailable) {
		t.Errorf("the one at %d gives %v", n, err)
	}
	if err := r.Alert("meter", "k", []byte(`{"text":"x"}`)); err != nil {
		t.Errorf("another agent is held up: %v", err)
	}
	if err := r.Alert("boiler", "7", []byte(`{"cleared":true}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Alert("boiler", "more", []byte(`{"text":"x"}`)); err != nil {
		t.Errorf("after one was cleared: %v", err)
	}
}

func TestAnAgentThatIsNoMoreLeavesNothing(t *testing.T) {
	r, c := open(t, t.TempDir())
	t.Cleanup(func() { _ = c.Close() })
	for _, agent := range []string{"boiler", "pump"} {
		if err := r.Health(agent, []byte(`{"status":"bad"}`)); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b"} {
			if err := r.Alert(agent, key, []byte(`{"text":"x"}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var ended []string
	stop := r.Watch(func(a presence.Alert) { ended = append(ended, fmt.Sprint(a.Agent, a.Cleared)) })
	r.Leave("boiler")
	r.Leave("nobody")
	stop()
	if list := r.List(); len(list) != 2 || list[0].Agent != "pump" || list[1].Agent != "pump" {
		t.Errorf("open are %+v", list)
	}
	if diff := cmp.Diff([]string{"boilertrue", "boilertrue"}, ended); diff != "" {
		t.Error(diff)
	}
	if h := r.Look("boiler", time.Now()); h.Status != presence.Unknown {
		t.Errorf("it is %s", h.Status)
	}
}

func TestAttackAnAlertThatLastsIsClearedBehindItsAgent(t *testing.T) {
	r, _ := open(t, t.TempDir())
	raise := func() {
		t.Helper()
		if err := r.Alert("boiler", "hot", []byte(`{"text":"too hot","severity":"critical"}`)); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	deaf, end := context.WithCancel(t.Context())
	err := r.Doubt(deaf, "boiler", "hot", func() error { end(); return nil })
	if !fault.Is(err, fault.Timeout) || len(r.List()) != 1 {
		t.Errorf("of an agent that does not answer: %v, %d open", err, len(r.List()))
	}
	err = r.Doubt(t.Context(), "boiler", "hot", func() error { raise(); return nil })
	if !fault.Is(err, fault.Conflict) || len(r.List()) != 1 || r.List()[0].Count != 2 {
		t.Errorf("of an agent that says it lasts: %v, %+v", err, r.List())
	}
	if err := r.Shelve("boiler", "hot"); err != nil || len(r.List()) != 0 {
		t.Errorf("while its agent is away: %v, %d open", err, len(r.List()))
	}
	r.Forget("boiler") // it is back, and says nothing of it
	if list := r.List(); len(list) != 1 || list[0].Count != 2 || list[0].Cleared {
		t.Errorf("when its agent is back: %+v", list)
	}
	over := func() error { return r.Alert("boiler", "hot", []byte(`{"cleared":true}`)) }
	if err := r.Doubt(t.Context(), "boiler", "hot", over); err != nil || len(r.List()) != 0 {
		t.Errorf("of an agent that says it is over: %v, %d open", err, len(r.List()))
	}
	if err := r.Doubt(t.Context(), "boiler", "hot", over); !fault.Is(err, fault.NotFound) {
		t.Errorf("of one that is not open: %v", err)
	}
}

func TestAnAlertThatWasClearedWhileItsAgentIsAwayIsOpenAfterARestart(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		open int
	}{"unless the agent has said that it is over": {`{"cleared":true}`, 0}, "else": {"", 1}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r, kept := open(t, dir)
			if err := r.Alert("boiler", "hot", []byte(`{"text":"too hot"}`)); err != nil {
				t.Fatal(err)
			}
			run := func() {
				ended, end := context.WithCancel(context.Background())
				end()
				if err := r.Run(ended); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if err := r.Shelve("boiler", "hot"); err != nil {
				t.Fatal(err)
			}
			if c.says != "" {
				if err := r.Alert("boiler", "hot", []byte(c.says)); err != nil {
					t.Fatal(err)
				}
			}
			run()
			again, err := presence.Open(t.Context(), kept, time.Now)
			if err != nil || len(again.List()) != c.open {
				t.Errorf("%d are open, %v", len(again.List()), err)
			}
		})
	}
}
