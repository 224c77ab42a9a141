package verdict_test

import (
	"testing"
	"time"

	"voltbus/verdict"
)

func devices(n int, of ...verdict.Device) []verdict.Device {
	for range n {
		of = append(of, verdict.Device{Path: "site/well", Line: "x"})
	}
	return of
}

func TestOneSentenceSaysWhatIsNotWellAndThenWhatIs(t *testing.T) {
	silent := verdict.Device{Path: "site/<b>", Line: "y", Silent: true}
	for _, tt := range []struct {
		name     string
		facts    verdict.Facts
		level    verdict.Level
		sentence string
	}{
		{"well", verdict.Facts{Devices: devices(7), Books: verdict.Books{Stored: 12345}}, verdict.Good, "All 7 devices answer; 12,345 samples recorded, none lost"},
		{"one device", verdict.Facts{Devices: devices(1, verdict.Device{Disabled: true}), Books: verdict.Books{Stored: 1}}, verdict.Good, "The only device answers; 1 sample recorded, none lost"},
		{"no device", verdict.Facts{}, verdict.Wait, "No devices are configured; 0 samples recorded, none lost"},
		{"devices are elsewhere", verdict.Facts{Books: verdict.Books{Stored: 999, Others: true}}, verdict.Good, "No devices here; 999 samples recorded, none lost"},
		{"just started", verdict.Facts{Devices: devices(1, verdict.Device{Starting: true})}, verdict.Wait, "1 of 2 devices not read yet; 0 samples recorded, none lost"},
		{"silent", verdict.Facts{Devices: devices(7, silent)}, verdict.Bad, "1 of 8 devices does not answer (<b>); 0 samples recorded, none lost"},
		{"all silent", verdict.Facts{Devices: []verdict.Device{silent, silent, silent, silent, silent}}, verdict.Bad, "5 of 5 devices do not answer (<b>, <b>, <b> and 2 more); 0 samples recorded, none lost"},
		{"answers with errors only", verdict.Facts{Devices: devices(1, verdict.Device{Path: "b", Problem: "no", Refuses: true})}, verdict.Bad, "1 of 2 devices gives no point (b); 0 samples recorded, none lost"},
		{"one bad register", verdict.Facts{Devices: devices(1, verdict.Device{Path: "b", Problem: "no"})}, verdict.Worth, "1 of 2 devices answers only in part (b); 0 samples recorded, none lost"},
		{
			"lost",
			verdict.Facts{Devices: devices(2), Books: verdict.Books{Stored: 1000000, Missing: 3}, Losses: []verdict.Loss{{Samples: 3}}},
			verdict.Worth,
			"Both devices answer; 1 other concern; 1,000,000 samples recorded, 3 lost",
		},
		{"nothing is recorded", verdict.Facts{Devices: devices(2), Paused: "the disk is full"}, verdict.Bad, "Nothing is recorded: the disk is full; both devices answer"},
		{
			"alarms", verdict.Facts{
				Devices: devices(2), AlarmsBelow: map[string]int{"high": 1, "": 2},
				Alarms: []verdict.Alarm{{Priority: "low"}, {Priority: "medium", Over: true}, {Priority: "critical", Kept: true}, {Priority: "high", Agent: "a"}},
				Alerts: []verdict.Alert{{Severity: "warning"}},
			}, verdict.Worth, "6 alarms are open (2 high, 1 medium, 1 low, 2 more); both devices answer; 0 samples recorded, none lost",
		},
		{
			"commands",
			verdict.Facts{
				Devices: devices(2), Points: []verdict.Point{{Output: "failed"}, {Output: "unknown"}, {Output: "unknown"}, {Output: "mismatch"}},
				Proposals: []verdict.Proposal{{}},
			},
			verdict.Worth,
			"1 command failed; 2 commands are not confirmed; 1 point has another value than it was set to; both devices answer; 1 command waits for approval; 0 samples recorded, none lost",
		},
		{
			"agents and destinations",
			verdict.Facts{
				Devices: devices(2), Agents: []verdict.Agent{{Name: "a"}}, Files: []verdict.File{{Part: verdict.Destinations}, {Name: "x"}}, Audit: "torn",
			},
			verdict.Worth,
			"Both devices answer; 1 agent does not work; 1 destination is behind or refuses readings; 2 other concerns; 0 samples recorded, none lost",
		},
		{
			"nodes",
			verdict.Facts{Now: time.Unix(1000, 0), Children: []verdict.Child{
				{Name: "new", Pending: true},
				{Name: "far", Away: true, All: 2, Waits: time.Unix(1, 0)},
				{Name: "slow", All: 3, Devices: 1, Waits: time.Unix(900, 0)},
				{Name: "ill", Unwell: true},
				{Name: "in time", Waits: time.Unix(990, 0)},
			}},
			verdict.Worth,
			"No devices here; 1 node waits for approval; 3 of 4 descendants are connected, of which 1 is behind and 1 is not well, 2 of 5 devices answer there; 0 samples recorded, none lost",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := verdict.Conclude(&tt.facts)
			if v.Level != tt.level || v.Sentence != tt.sentence {
				t.Errorf("%s (%s): %s\n%v", v.Level, v.Level.Word(), v.Sentence, v.Concerns)
			}
		})
	}
}

// Whatever is counted as not well is a concern, and whatever is a concern is counted.
func TestCountsAndConcernsAgree(t *testing.T) {
	one := verdict.Concern{}
	for name, f := range map[string]verdict.Facts{
		"paused":      {Paused: "full"},
		"sink":        {Sinks: []verdict.Sink{{Part: verdict.Store, Reason: "away"}}},
		"history":     {History: "away"},
		"damage":      {Damaged: []verdict.Damage{{File: "x"}}},
		"unbalanced":  {Books: verdict.Books{Unbalanced: "n"}},
		"audit":       {Audit: "torn"},
		"file":        {Files: []verdict.File{{Name: "x"}}},
		"metering":    {Metering: []verdict.Metering{{About: "m"}}},
		"destination": {Files: []verdict.File{{Part: verdict.Destinations}}},
		"replicas":    {Replicas: verdict.Replicas{Sentence: "alone"}},
		"control":     {Control: "full"},
		"command":     {Points: []verdict.Point{{Output: "failed"}}},
		"agent":       {Agents: []verdict.Agent{{Name: "a"}}},
		"unjudged":    {Unjudged: "full"},
		"unheard":     {Unheard: []string{"the server does not answer"}},
		"doubt":       {Doubts: []verdict.Doubt{{Rule: "hot", Why: "there is no point b/t"}}},
		"alarm":       {Alarms: []verdict.Alarm{{Priority: "low"}}},
		"over":        {Alarms: []verdict.Alarm{{Priority: "high", Agent: "a", Over: true}}},
		"pending":     {Children: []verdict.Child{{Pending: true}}},
		"away":        {Children: []verdict.Child{{Away: true}}},
		"refused":     {Children: []verdict.Child{{Refused: "no"}}},
		"crowded":     {Children: []verdict.Child{{Crowded: "full"}}},
		"below":       {Children: []verdict.Child{{Alarms: 1}}},
		"proposal":    {Proposals: []verdict.Proposal{{}}},
		"trial":       {Trial: &verdict.Trial{}},
	} {
		v := verdict.Conclude(&f)
		c := v.Counts
		counted := c.Alarms + c.RulesUnjudged + c.CommandsFailed + c.CommandsUnconfirmed + c.CommandsDiffering + c.CommandsPending + c.Agents + c.NodesPending + c.Destinations +
			c.NodesAway + c.NodesRefused + c.NodesBehind + c.NodesUnwell + c.Others
		if f.Paused != "" {
			counted++
		}
		if len(v.Concerns) != 1 || v.Concerns[0] == one || counted != 1 {
			t.Errorf("%s: %d counted, %v", name, counted, v.Concerns)
		}
	}
}
