package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/verdict"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestNothingIsWrongWhereNothingIsKnownToBe(t *testing.T) {
	f := verdict.Facts{
		Now: noon, Sinks: []verdict.Sink{{Part: verdict.Store, Waiting: 3, Oldest: noon.Add(-time.Second)}},
		Devices:  []verdict.Device{{Path: "a", Line: "x", Error: "a timeout an hour ago"}},
		Alarms:   []verdict.Alarm{{ID: "hot@b", Text: "hot", Priority: "critical", Kept: true}, {ID: "agent:a@k", Priority: "high", Agent: "a"}},
		Losses:   []verdict.Loss{{Origin: "n~1", Samples: 7, Reason: "dropped", Noticed: noon.Add(-25 * time.Hour)}},
		Children: []verdict.Child{{Name: "b1"}},
	}
	if got := verdict.Judge(&f); len(got) > 0 {
		t.Errorf("judged as %+v", got)
	}
}

func TestEachFaultIsOneConcernInWords(t *testing.T) {
	early := noon.Add(-time.Hour)
	for name, tt := range map[string]struct {
		facts verdict.Facts
		want  verdict.Concern
	}{
		"recording": {
			verdict.Facts{Paused: "the disk is full; make room"},
			verdict.Concern{Part: verdict.Recorder, Severity: verdict.Critical, Sentence: "nothing is recorded: the disk is full; make room", Link: "/ledger"},
		},
		"a store that is away": {
			verdict.Facts{Sinks: []verdict.Sink{{Part: verdict.Store, Reason: "connection refused"}}},
			verdict.Concern{Part: verdict.Store, Severity: verdict.Warning, Sentence: "the history does not take what is recorded: connection refused", Link: "/ledger"},
		},
		"a store that is behind": {
			verdict.Facts{Sinks: []verdict.Sink{{Part: verdict.Store, Waiting: 1, Oldest: early}}},
			verdict.Concern{
				Part: verdict.Store, Severity: verdict.Warning, Since: early, Link: "/ledger",
				Sentence: "the history is behind: 1 block waits for it in the log, the oldest since 2026-01-01 11:00:00 UTC",
			},
		},
		"a loss of this day": {
			verdict.Facts{Losses: []verdict.Loss{{Origin: "n~1", Samples: 7, Reason: "dropped", Noticed: early}}},
			verdict.Concern{Part: verdict.History, Severity: verdict.Warning, Subject: "n~1", Since: early, Sentence: "7 samples of n~1 are lost: dropped", Link: "/ledger"},
		},
		"a device": {
			verdict.Facts{Devices: []verdict.Device{{Path: "a/m 1", Line: "x", Silent: true, Error: "connection refused", Kind: "unreachable", Since: early}, {Path: "b", Line: "x"}}},
			verdict.Concern{
				Part: verdict.Devices, Severity: verdict.Critical, Subject: "a/m 1", Kind: "unreachable", Since: early,
				Sentence: "a/m 1 does not answer: connection refused", Link: "/device/a/m%201",
			},
		},
		"a line": {
			verdict.Facts{Devices: []verdict.Device{{Path: "a", Line: "x", Silent: true, Since: noon}, {Path: "b", Line: "x", Silent: true, Error: "no route", Since: early}}},
			verdict.Concern{
				Part: verdict.Devices, Severity: verdict.Critical, Subject: "x", Since: early,
				Sentence: "all 2 devices of line x do not answer: no route", Link: "/device/b",
			},
		},
		"a point whose device is off": {
			verdict.Facts{Points: []verdict.Point{{Path: "p/b", Output: "failed", Why: "p/b: mb: no answer within 2s", Since: early}}},
			verdict.Concern{
				Part: verdict.Control, Severity: verdict.Warning, Subject: "p/b", Since: early,
				Sentence: "p/b does not have what it was set to (failed): mb: no answer within 2s", Link: "/point/p/b",
			},
		},
		"a point of which nobody knows why": {
			verdict.Facts{Points: []verdict.Point{{Path: "p/b", Output: "unknown"}}},
			verdict.Concern{
				Part: verdict.Control, Severity: verdict.Warning, Subject: "p/b",
				Sentence: "p/b does not have what it was set to (unknown): it is not known whether the device took the last command", Link: "/point/p/b",
			},
		},
		"a node that is away": {
			verdict.Facts{Children: []verdict.Child{{Name: "b1", Away: true, Since: early}}},
			verdict.Concern{
				Part: verdict.Nodes, Severity: verdict.Warning, Subject: "b1", Since: early,
				Sentence: "the node b1 is away; what it records waits on its disk", Link: "/node/b1",
			},
		},
		"a node whose devices fail": {
			verdict.Facts{Children: []verdict.Child{{Name: "b1", Devices: 1, Agents: 2, Alarms: 1, Unwell: true}, {Name: "b2"}}},
			verdict.Concern{
				Part: verdict.Nodes, Severity: verdict.Warning, Subject: "b1",
				Sentence: "the node b1 is not well: 1 device gives no value, 2 agents do not work, 1 alarm is open", Link: "/node/b1",
			},
		},
		"a node that only says that it is not well": {
			verdict.Facts{Children: []verdict.Child{{Name: "b1", Unwell: true}}},
			verdict.Concern{
				Part: verdict.Nodes, Severity: verdict.Warning, Subject: "b1",
				Sentence: "the node b1 is not well: its own health says why", Link: "/node/b1",
			},
		},
		"a node that is away and was not well": {
			verdict.Facts{Children: []verdict.Child{{Name: "b1", Away: true, Devices: 3, Unwell: true}}},
			verdict.Concern{
				Part: verdict.Nodes, Severity: verdict.Warning, Subject: "b1",
				Sentence: "the node b1 is away; what it records waits on its disk", Link: "/node/b1",
			},
		},
		"a rule of which only one point is not there": {
			verdict.Facts{Doubts: []verdict.Doubt{{Rule: "hot", Why: "there is no point b/t"}}},
			verdict.Concern{Part: verdict.Alarms, Severity: verdict.Warning, Subject: "hot", Sentence: "the alarm rule hot cannot be judged: there is no point b/t", Link: "/alarms"},
		},
		"a rule with several reasons": {
			verdict.Facts{Doubts: []verdict.Doubt{{Rule: "hot", Why: "b/x has no usable reading", More: 2}}},
			verdict.Concern{
				Part: verdict.Alarms, Severity: verdict.Warning, Subject: "hot", Link: "/alarms",
				Sentence: "the alarm rule hot cannot be judged: b/x has no usable reading, and 2 more reasons",
			},
		},
		"people who are not told": {
			verdict.Facts{Unheard: []string{"ada cannot be told of alarms: no route"}},
			verdict.Concern{Part: verdict.Alarms, Severity: verdict.Critical, Sentence: "ada cannot be told of alarms: no route", Link: "/alarms"},
		},
		"an agent": {
			verdict.Facts{Agents: []verdict.Agent{{Name: "tune", Does: "raised 3 times", Since: early}}},
			verdict.Concern{Part: verdict.Agents, Severity: verdict.Warning, Subject: "tune", Since: early, Sentence: "tune raised 3 times", Link: "/agents/tune"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.facts.Now = noon
			if diff := cmp.Diff([]verdict.Concern{tt.want}, verdict.Judge(&tt.facts)); diff != "" {
				t.Error("concerns (-want +got):\n" + diff)
			}
		})
	}
}

func TestWhatIsCriticalComesFirstAndTheRestIsCounted(t *testing.T) {
	f := verdict.Facts{Now: noon, Audit: "damaged"}
	for i := range 30 {
		f.Alerts = append(f.Alerts, verdict.Alert{Agent: "a", Key: fmt.Sprint(i), Text: "warm", Severity: "warning", Since: noon.Add(time.Duration(i))})
	}
	f.Alerts = append(f.Alerts, verdict.Alert{Agent: "a", Key: "hot", Text: "hot", Severity: "critical"})
	got := verdict.Judge(&f)
	if len(got) != 22 || got[0].Subject != "a: hot" || got[1].Part != verdict.Audit || got[21].Sentence != "11 more concerns about alerts" {
		t.Errorf("judged as %+v", got)
	}
	if s := verdict.Sentence(verdict.Of(got, verdict.Alerts)); !strings.HasPrefix(s, "critical of a: hot; warning of a: warm; ") || !strings.HasSuffix(s, "; and 18 more") {
		t.Errorf("in one sentence: %s", s)
	}
}
