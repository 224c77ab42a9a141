package master

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
)

func TestEventsOfAnotherMasterAreLeftToIt(t *testing.T) {
	report := "F3 82 00 00 02 01 28 01 00 00 00 81"
	for name, moves := range map[string][]move{
		"a report is neither confirmed nor delivered, however often it comes": {
			{hear: report}, {hear: report},
		},
		"a report without objects is confirmed, as it takes nothing away": {
			{hear: "F0 82 00 00", say: say("D0 00")},
		},
		"unless it says that events were lost": {
			{hear: "F0 82 00 08"},
		},
		"neither a restart nor waiting events nor a clock that is not set bring the association to speak": {
			{hear: "F0 82 9E 00", say: say("D0 00")}, {after: time.Hour},
		},
		"an answer with events that were not asked for is another master's": {
			{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
			{hear: "E0 81 00 00 02 01 28 01 00 00 00 81"},
			{hear: "C0 81 00 00 1E 02 00 00 00 01 05 00", points: []string{"g30v2 5"}, result: []string{"ok"}},
		},
		"parts of an answer are confirmed": {
			{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
			{hear: "A0 81 00 00 01 01 00 00 00 01", say: say("C0 00"), points: []string{"g1v1 true"}},
			{hear: "41 81 00 00 01 01 00 01 01 00", points: []string{"g1v1 false"}, result: []string{"ok"}},
		},
		"events that were asked for are taken": {
			{ask: ReadClasses(app.Class1), say: say("C0 01 3C 02 06")},
			{hear: "E0 81 00 00 02 01 28 01 00 00 00 81", say: say("C0 00"), points: []string{"g2v1 true"}, result: []string{"ok"}},
		},
	} {
		t.Run(name, func(t *testing.T) { converse(t, Config{LeaveEvents: true}, moves) })
	}
}

func TestAnAnswerIsAllowedToWaitForAReportThatIsLeft(t *testing.T) {
	report := "F3 82 00 00 02 01 28 01 00 00 00 81"
	ends := []string{"outstation 10: integrity poll: " + ErrTimeout.Error()}
	for name, moves := range map[string][]move{
		"that came before the question": {
			{hear: report},
			{after: 4 * time.Second},
			{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
			{after: HoldBack - 4*time.Second - time.Nanosecond},
			{after: time.Nanosecond, result: ends},
		},
		"that came after it, but once only": {
			{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
			{after: 4 * time.Second},
			{hear: report},
			{after: HoldBack - time.Second},
			{hear: report},
			{after: time.Second, result: ends},
		},
		"but not for one that was left long ago": {
			{hear: report},
			{after: HoldBack},
			{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
			{after: 5 * time.Second, result: ends},
		},
	} {
		t.Run(name, func(t *testing.T) { converse(t, Config{LeaveEvents: true}, moves) })
	}
}

func TestWhoLeavesEventsDoesNothingByItself(t *testing.T) {
	for name, c := range map[string]Config{
		"disables":         {DisableFirst: app.Class1},
		"reads":            {Startup: app.Class0},
		"enables":          {Enable: app.Class1},
		"sets the time":    {TimeSync: LAN},
		"polls":            {Polls: []Poll{{app.Class0, time.Minute}}},
		"reads when told":  {OnEvents: app.Class1},
		"reads after loss": {IntegrityOnOverflow: true},
	} {
		c.LeaveEvents = true
		if _, err := New(c, &listener{}); !errors.Is(err, errLeave) {
			t.Errorf("one that %s gives %v", name, err)
		}
	}
}

// converse has a conversation, and compares it move by move.
func converse(t *testing.T, c Config, moves []move) {
	t.Helper()
	s := newSeat(t, c)
	s.port.Open(s.now, s.out)
	for i, m := range moves {
		s.heard.heard, s.results = nil, nil
		s.take(t, m)
		if diff := cmp.Diff(m.say, s.said(t)); diff != "" {
			t.Fatalf("move %d says: %s", i, diff)
		}
		if diff := cmp.Diff(m.points, s.heard.heard); diff != "" {
			t.Fatalf("move %d delivers: %s", i, diff)
		}
		if diff := cmp.Diff(m.result, s.results); diff != "" {
			t.Fatalf("move %d ends: %s", i, diff)
		}
	}
}
