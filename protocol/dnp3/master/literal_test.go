package master

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// listener is a handler that notes what it is given.
type listener struct{ heard []string }

func (l *listener) Begin(Info) {}
func (l *listener) End(Info)   {}
func (l *listener) Header(h app.Header) {
	for p := range h.Points() {
		l.heard = append(l.heard, h.Variation.String()+" "+p.Value.String())
	}
}

// seat is an association that a test plays the outstation for.
type seat struct {
	a       *Association
	port    *station.Port
	out     *station.Output
	now     time.Time
	heard   listener
	results []string // of submitted requests
}

func newSeat(t *testing.T, c Config) *seat {
	t.Helper()
	s := &seat{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), out: station.NewPool(0).Output()}
	c.Outstation = 10
	var err error
	if s.a, err = New(c, &s.heard); err != nil {
		t.Fatal(err)
	}
	if s.port, err = station.NewPort(station.Config{Local: 1, Remote: 10, Master: true}, s.a); err != nil {
		t.Fatal(err)
	}
	return s
}

// said returns the fragments written since it was last asked.
func (s *seat) said(t *testing.T) []string {
	t.Helper()
	var parser link.Parser
	var joiner transport.Reassembler
	var room [link.MaxPayload]byte
	joiner.Lend(make([]byte, 0, station.FragmentSize))
	var said []string
	for wire := s.out.Wire(); ; {
		f, n, ok := parser.Next(wire, &room)
		if !ok {
			break
		}
		wire = wire[n:]
		if fragment, complete := joiner.Add(f.Payload); complete {
			said = append(said, strings.ToUpper(hex.EncodeToString(fragment)))
		}
	}
	s.out.Reset()
	return said
}

// move is a line of a conversation: what happens, and what the master says and hears then.
type move struct {
	hear  string
	after time.Duration
	ask   *Request

	say    []string
	points []string
	result []string
}

func (s *seat) take(t *testing.T, m move) {
	t.Helper()
	s.port.Tick(s.now, s.out)
	if m.hear != "" {
		p, err := hex.DecodeString(strings.ReplaceAll(m.hear, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		s.a.Receive(s.now, station.Message{Octets: p, Source: 10}, s.out)
	}
	if m.ask != nil {
		s.a.Submit(m.ask, func(_ Result, err error) {
			if err == nil {
				s.results = append(s.results, "ok")
				return
			}
			s.results = append(s.results, err.Error())
		})
	}
	s.now = s.now.Add(m.after)
	s.port.Tick(s.now, s.out)
}

func say(fragments ...string) []string {
	var all []string
	for _, f := range fragments {
		all = append(all, strings.ReplaceAll(f, " ", ""))
	}
	return all
}

func TestConversationsWithAMaster(t *testing.T) {
	full := Config{DisableFirst: app.EventClasses, Startup: app.Integrity, Enable: app.EventClasses}
	latch := "0C 01 28 01 00 00 00 03 01 00 00 00 00 00 00 00 00 00"
	cases := []struct {
		name   string
		config Config
		moves  []move
	}{
		{
			"the start disables, clears the restart, reads everything, enables", full,
			[]move{
				{say: say("C0 15 3C 02 06 3C 03 06 3C 04 06")},
				{hear: "C0 81 80 00", say: say("C1 02 50 01 00 07 07 00")},
				{hear: "C1 81 00 00", say: say("C2 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
				{hear: "C2 81 00 00 1E 02 00 00 00 01 05 00", say: say("C3 14 3C 02 06 3C 03 06 3C 04 06"), points: []string{"g30v2 5"}},
				{hear: "C3 81 00 00"},
			},
		},
		{
			"a start-up request without an answer is made again, later each time", full,
			[]move{
				{say: say("C0 15 3C 02 06 3C 03 06 3C 04 06")},
				{after: 5 * time.Second},
				{after: 2 * time.Second, say: say("C1 15 3C 02 06 3C 03 06 3C 04 06")},
				{after: 5 * time.Second},
				{after: 3 * time.Second},
				{after: time.Second, say: say("C2 15 3C 02 06 3C 03 06 3C 04 06")},
			},
		},
		{
			"a start-up request that is refused is left out",
			Config{DisableFirst: app.Class1, Enable: app.Class1},
			[]move{
				{say: say("C0 15 3C 02 06")},
				{hear: "C0 81 00 01", say: say("C1 14 3C 02 06")},
				{hear: "C1 81 00 01"},
				{after: time.Hour},
			},
		},
		{
			"an outstation that restarts is started up again", full,
			[]move{
				{say: say("C0 15 3C 02 06 3C 03 06 3C 04 06")},
				{hear: "C0 81 00 00", say: say("C1 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
				{hear: "C1 81 00 00", say: say("C2 14 3C 02 06 3C 03 06 3C 04 06")},
				{hear: "C2 81 00 00"},
				{hear: "F0 82 80 00", say: say("D0 00", "C3 02 50 01 00 07 07 00")},
				{hear: "C3 81 00 00", say: say("C4 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
				{hear: "C4 81 00 00", say: say("C5 14 3C 02 06 3C 03 06 3C 04 06")},
			},
		},
		{
			"a report is confirmed, and a repeated one confirmed and not delivered again",
			Config{},
			[]move{
				{hear: "F3 82 00 00 02 01 28 01 00 00 00 81", say: say("D3 00"), points: []string{"g2v1 true"}},
				{hear: "F3 82 00 00 02 01 28 01 00 00 00 81", say: say("D3 00")},
				{hear: "F3 82 00 00 02 01 28 01 00 00 00 01", say: say("D3 00"), points: []string{"g2v1 false"}},
				{hear: "F4 82 00 00 02 01 28 01 00 00 00 01", say: say("D4 00"), points: []string{"g2v1 false"}},
			},
		},
		{
			"a report that cannot be read is neither delivered nor confirmed",
			Config{},
			[]move{
				{hear: "F3 82 00 00 02 01 28 01 00 00 00 81 02 01"},
				{hear: "F3 82 00"},
				{hear: "73 82 00 00"},
				{hear: "C3 82 00 00"},
			},
		},
		{
			"an answer of several fragments is confirmed piece by piece",
			Config{},
			[]move{
				{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
				{hear: "A0 81 00 00 01 01 00 00 00 01", say: say("C0 00"), points: []string{"g1v1 true"}},
				{hear: "61 81 00 00 01 01 00 01 01 00", say: say("C1 00"), points: []string{"g1v1 false"}, result: []string{"ok"}},
			},
		},
		{
			"an answer with another sequence number, or out of turn, is dropped",
			Config{},
			[]move{
				{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
				{hear: "E5 81 00 00 01 01 00 00 00 01"},
				{hear: "60 81 00 00 01 01 00 00 00 01"},
				{after: 5 * time.Second, result: []string{"outstation 10: integrity poll: " + ErrTimeout.Error()}},
				{hear: "E0 81 00 00 01 01 00 00 00 01"},
			},
		},
		{
			"a request is repeated as it was, if that is allowed",
			Config{Retries: 1},
			[]move{
				{ask: ReadClasses(app.Class1), say: say("C0 01 3C 02 06")},
				{after: 5 * time.Second, say: say("C0 01 3C 02 06")},
				{hear: "C0 81 00 00", result: []string{"ok"}},
			},
		},
		{
			"a command is never repeated",
			Config{Retries: 3},
			[]move{
				{ask: Operate(Latch(0, true)), say: say("C0 05" + latch)},
				{after: 5 * time.Second, result: []string{"outstation 10: direct operate: " + ErrTimeout.Error()}},
			},
		},
		{
			"what a device sends before it is asked is taken, while the start-up goes on", full,
			[]move{
				{
					hear: "F0 82 80 00 02 01 28 01 00 00 00 81", points: []string{"g2v1 true"},
					say: say("C0 15 3C 02 06 3C 03 06 3C 04 06", "D0 00"),
				},
				{hear: "C0 81 80 00", say: say("C1 02 50 01 00 07 07 00")},
				{hear: "C1 81 00 00", say: say("C2 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
			},
		},
		{
			"events that come before the start-up read are left unconfirmed where that is asked for",
			Config{Startup: app.Integrity, Enable: app.EventClasses, Tolerance: Tolerance{IgnoreEarly: true}},
			[]move{
				{hear: "F0 82 80 00 02 01 28 01 00 00 00 81", say: say("C0 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
				{hear: "C0 81 00 00", say: say("C1 14 3C 02 06 3C 03 06 3C 04 06")},
				{hear: "F0 82 00 00 02 01 28 01 00 00 00 81", say: say("D0 00"), points: []string{"g2v1 true"}},
			},
		},
		{
			"what is selected is operated with the next sequence number",
			Config{},
			[]move{
				{ask: SelectOperate(Latch(0, true)), say: say("C0 03" + latch)},
				{hear: "C0 81 00 00" + latch, say: say("C1 04" + latch)},
				{hear: "C1 81 00 00" + latch, result: []string{"ok"}},
			},
		},
		{
			"what the outstation does not select is not operated",
			Config{},
			[]move{
				{ask: SelectOperate(Latch(0, true)), say: say("C0 03" + latch)},
				{
					hear:   "C0 81 00 00" + latch[:len(latch)-2] + "07",
					result: []string{"outstation 10: select before operate: g12v1 index 0: LOCAL: " + ErrStatus.Error()},
				},
			},
		},
		{
			"an answer that is not the command sent is an error",
			Config{},
			[]move{
				{ask: Operate(Latch(0, true)), say: say("C0 05" + latch)},
				{hear: "C0 81 00 00", result: []string{"outstation 10: direct operate: 0 of 1 commands are answered: " + ErrMalformed.Error()}},
			},
		},
		{
			"values that came are used although the outstation has not all that was asked for",
			Config{},
			[]move{
				{ask: ReadClasses(app.Integrity), say: say("C0 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06")},
				{hear: "C0 81 00 02 1E 02 00 00 00 01 05 00", points: []string{"g30v2 5"}, result: []string{"ok"}},
			},
		},
		{
			"a refusal is told with its indications",
			Config{},
			[]move{
				{ask: ReadAll(object.G102V1), say: say("C0 01 66 01 06")},
				{hear: "C0 81 00 02", result: []string{"outstation 10: read g102v1: indications 00 02 OBJECT_UNKNOWN: " + ErrRefused.Error()}},
			},
		},
		{
			"the time is recorded and then written on a LAN",
			Config{TimeSync: LAN},
			[]move{
				{hear: "F0 82 10 00", say: say("D0 00", "C0 18")},
				{after: time.Second},
				{hear: "C0 81 10 00", say: say("C1 02 32 03 07 01 00 A8 DA 76 9B 01")},
				{hear: "C1 81 00 00"},
			},
		},
		{
			"the delay of a slow line is added to the time",
			Config{TimeSync: NonLAN},
			[]move{
				{hear: "F0 82 10 00", say: say("D0 00", "C0 17")},
				{after: time.Second},
				{hear: "C0 81 10 00 34 02 07 01 64 00", say: say("C1 02 32 01 07 01 AA AD DA 76 9B 01")},
				{hear: "C1 81 00 00"},
			},
		},
		{
			"a clock that stays unset is not set again at once",
			Config{TimeSync: DirectWrite},
			[]move{
				{hear: "F0 82 10 00", say: say("D0 00", "C0 02 32 01 07 01 00 A8 DA 76 9B 01")},
				{hear: "C0 81 10 00"},
				{after: time.Second},
				{after: time.Second, say: say("C1 02 32 01 07 01 D0 AF DA 76 9B 01")},
			},
		},
		{
			"a command goes before what waits, a poll after it",
			Config{Polls: []Poll{{app.Class1, time.Minute}}},
			[]move{
				{ask: ReadClasses(app.Class0), say: say("C0 01 3C 01 06")},
				{ask: ReadAll(object.G30V0)},
				{ask: Operate(Latch(0, true))},
				{hear: "C0 81 00 00", say: say("C1 05" + latch), result: []string{"ok"}},
				{hear: "C1 81 00 00" + latch, say: say("C2 01 1E 00 06"), result: []string{"ok"}},
				{hear: "C2 81 00 00", result: []string{"ok"}},
				{after: time.Minute, say: say("C3 01 3C 02 06")},
			},
		},
		{
			"a file is opened, read block by block, and closed",
			Config{},
			[]move{
				{
					ask: ReadFile("a", 0, 100, func([]byte) error { return nil }),
					say: say("C0 19 46 03 5B 01 1B 00 1A 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 04 00 00 61"),
				},
				{hear: "C0 81 00 00 46 04 5B 01 0D 00 07 00 00 00 04 00 00 00 00 04 00 00 00", say: say("C1 01 46 05 5B 01 08 00 07 00 00 00 00 00 00 00")},
				{hear: "C1 81 00 00 46 05 5B 01 0A 00 07 00 00 00 00 00 00 00 41 42", say: say("C2 01 46 05 5B 01 08 00 07 00 00 00 01 00 00 00")},
				{hear: "C2 81 00 00 46 05 5B 01 0A 00 07 00 00 00 01 00 00 80 43 44", say: say("C3 1A 46 04 5B 01 0D 00 07 00 00 00 00 00 00 00 00 00 00 00 00")},
				{hear: "C3 81 00 00 46 04 5B 01 0D 00 07 00 00 00 00 00 00 00 00 00 00 00 00", result: []string{"ok"}},
			},
		},
		{
			"a file that is longer than allowed is closed",
			Config{},
			[]move{
				{
					ask: ReadFile("a", 0, 1, func([]byte) error { return nil }),
					say: say("C0 19 46 03 5B 01 1B 00 1A 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 04 00 00 61"),
				},
				{hear: "C0 81 00 00 46 04 5B 01 0D 00 07 00 00 00 04 00 00 00 00 04 00 00 00", say: say("C1 01 46 05 5B 01 08 00 07 00 00 00 00 00 00 00")},
				{hear: "C1 81 00 00 46 05 5B 01 0A 00 07 00 00 00 00 00 00 00 41 42", say: say("C2 1A 46 04 5B 01 0D 00 07 00 00 00 00 00 00 00 00 00 00 00 00")},
				{
					hear:   "C2 81 00 00 46 04 5B 01 0D 00 07 00 00 00 00 00 00 00 00 00 00 00 00",
					result: []string{"outstation 10: read file: " + ErrFileSize.Error()},
				},
			},
		},
		{
			"a file that is not there is an error",
			Config{},
			[]move{
				{
					ask: ReadFile("a", 0, 1, func([]byte) error { return nil }),
					say: say("C0 19 46 03 5B 01 1B 00 1A 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 04 00 00 61"),
				},
				{
					hear:   "C0 81 00 00 46 04 5B 01 0D 00 00 00 00 00 00 00 00 00 00 00 00 00 03",
					result: []string{"outstation 10: read file: not found: " + ErrFile.Error()},
				},
			},
		},
		{
			"narrow indexes are sent to outstations that know no others",
			Config{Tolerance: Tolerance{NarrowIndexes: true}},
			[]move{{ask: Operate(Latch(1, false)), say: say("C0 05 0C 01 17 01 01 04 01 00 00 00 00 00 00 00 00 00")}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { converse(t, c.config, c.moves) })
	}
}
