package station_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// echo is a machine that notes fragments and answers each with itself.
type echo struct {
	heard []string
	opens int
}

func (e *echo) Open(time.Time, *station.Output) { e.opens++ }
func (e *echo) Close(time.Time)                 {}
func (e *echo) SetWake(func())                  {}
func (e *echo) Deadline() time.Time             { return time.Time{} }

func (e *echo) Tick(time.Time, *station.Output) {}

func (e *echo) Receive(_ time.Time, m station.Message, out *station.Output) {
	text := string(m.Octets)
	if m.Broadcast != 0 {
		text += " to " + m.Broadcast.String()
	}
	e.heard = append(e.heard, text)
	if m.Broadcast == 0 {
		out.Send(m.Octets)
	}
}

// rig is a line with some outstations, which a test plays the master for.
type rig struct {
	mux  station.Mux
	pool *station.Pool
	out  *station.Output
	now  time.Time
}

func newRig(t *testing.T, configs ...station.Config) (*rig, []*echo) {
	t.Helper()
	r := &rig{pool: station.NewPool(0), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	r.out = r.pool.Output()
	var machines []*echo
	for _, c := range configs {
		m := &echo{}
		p, err := station.NewPort(c, m)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.mux.Add(p); err != nil {
			t.Fatal(err)
		}
		machines = append(machines, m)
	}
	r.mux.Open(r.now, r.out)
	return r, machines
}

// hear gives the line a frame from a master.
func (r *rig) hear(t *testing.T, c link.Control, from, to link.Address, payload string) {
	t.Helper()
	frame, err := link.AppendFrame(nil, link.Header{Control: c, Destination: to, Source: from}, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	if n := r.mux.Receive(r.now, frame, r.out); n != len(frame) {
		t.Fatalf("%d of %d octets are done with", n, len(frame))
	}
}

// said returns the control octets and payloads written, one string a frame.
func (r *rig) said() []string {
	var parser link.Parser
	var room [link.MaxPayload]byte
	var said []string
	for wire := r.out.Wire(); ; {
		f, n, ok := parser.Next(wire, &room)
		if !ok {
			r.out.Reset()
			return said
		}
		wire = wire[n:]
		said = append(said, strings.TrimSpace(strings.ToUpper(hex.EncodeToString([]byte{byte(f.Control)}))+" "+f.Destination.String()+" "+string(f.Payload)))
	}
}

const (
	whole  = "\xC0" // transport header of a fragment of one segment
	data   = link.DIR | link.Control(link.UnconfirmedUserData)
	sure   = link.DIR | link.FCV | link.Control(link.ConfirmedUserData)
	reset  = link.DIR | link.Control(link.ResetLinkStates)
	status = link.DIR | link.Control(link.RequestLinkStatus)
	test   = link.DIR | link.FCV | link.Control(link.TestLinkStates)
)

func TestAPortAnswersTheLinkLayer(t *testing.T) {
	type frame struct {
		control link.Control
		payload string
		said    []string
	}
	cases := []struct {
		name   string
		frames []frame
		heard  []string
	}{
		{"a request for the link status is answered (clause 9)", []frame{{status, "", []string{"0B 1"}}}, nil},
		{"an unknown function is dropped", []frame{{link.DIR | 0x45, "", nil}}, nil},
		{"a reset with a frame count bit that counts is dropped", []frame{{reset | link.FCV, "", nil}}, nil},
		{"a test before a reset is refused", []frame{{test, "", []string{"01 1"}}}, nil},
		{
			"a test after a reset is acknowledged",
			[]frame{{reset, "", []string{"00 1"}}, {test | link.FCB, "", []string{"00 1"}}},
			nil,
		},
		{"confirmed data before a reset is refused", []frame{{sure, whole + "a", []string{"01 1"}}}, nil},
		{
			"confirmed data is acknowledged, and dropped when it is repeated",
			[]frame{
				{reset, "", []string{"00 1"}},
				{sure | link.FCB, whole + "a", []string{"00 1", "44 1 " + whole + "a"}},
				{sure | link.FCB, whole + "a", []string{"00 1"}},
				{sure, whole + "b", []string{"00 1", "44 1 \xC1b"}},
			},
			[]string{"a", "b"},
		},
		{"a frame that a slave sent is not for a slave", []frame{{link.Control(link.UnconfirmedUserData), whole + "a", nil}}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, machines := newRig(t, station.Config{Local: 10, Remote: 1})
			for i, f := range c.frames {
				r.hear(t, f.control, 1, 10, f.payload)
				if diff := cmp.Diff(f.said, r.said()); diff != "" {
					t.Fatalf("frame %d: %s", i, diff)
				}
			}
			if diff := cmp.Diff(c.heard, machines[0].heard); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMuxFindsThePortByLinkAddresses(t *testing.T) {
	r, machines := newRig(
		t, station.Config{Local: 10, Remote: 1}, station.Config{Local: 11, Remote: 1, SelfAddress: true},
		station.Config{Local: 10, Remote: 2}, station.Config{Local: 12, Remote: 3, AnyRemote: true},
	)
	for _, f := range []struct {
		from, to link.Address
		text     string
	}{
		{1, 10, "a"},
		{1, 11, "b"},
		{2, 10, "c"},
		{3, 10, "nobody"},
		{1, 99, "nobody"},
		{7, 12, "d"},
		{1, link.SelfAddress, "e"},
		{1, link.BroadcastConfirm, "f"},
		{link.BroadcastConfirm, 12, "nobody"},
	} {
		r.hear(t, data, f.from, f.to, whole+f.text)
	}
	var heard [][]string
	for _, m := range machines {
		heard = append(heard, m.heard)
	}
	to := " to " + link.BroadcastConfirm.String()
	want := [][]string{{"a", "f" + to}, {"b", "e", "f" + to}, {"c"}, {"d", "f" + to}}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

func TestAFragmentOfSeveralSegmentsIsJoinedAndAnswered(t *testing.T) {
	r, machines := newRig(t, station.Config{Local: 10, Remote: 1})
	long := strings.Repeat("x", 600)
	segments := transport.NewSegmenter([]byte(long), 0)
	for segments.More() {
		r.hear(t, data, 1, 10, string(segments.Append(nil)))
	}
	if len(machines[0].heard) != 1 || machines[0].heard[0] != long {
		t.Fatalf("heard %d fragments", len(machines[0].heard))
	}
	if n := len(r.said()); n != 3 {
		t.Errorf("answered in %d frames, want 3", n)
	}
}

func TestAFragmentThatIsTooLongIsDroppedAndTheNextOneIsAnswered(t *testing.T) {
	r, machines := newRig(t, station.Config{Local: 10, Remote: 1})
	for _, size := range []int{station.FragmentSize + 1, 100_000} {
		segments := transport.NewSegmenter([]byte(strings.Repeat("x", size)), 0)
		for segments.More() {
			r.hear(t, data, 1, 10, string(segments.Append(nil)))
		}
		if len(machines[0].heard) != 0 || len(r.said()) != 0 {
			t.Fatalf("of %d octets, %d fragments were heard", size, len(machines[0].heard))
		}
	}
	longest := strings.Repeat("y", station.FragmentSize)
	segments := transport.NewSegmenter([]byte(longest), 0)
	for segments.More() {
		r.hear(t, data, 1, 10, string(segments.Append(nil)))
	}
	if len(machines[0].heard) != 1 || machines[0].heard[0] != longest {
		t.Errorf("%d fragments of the longest size were heard", len(machines[0].heard))
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	for name, c := range map[string]station.Config{
		"an address for both ends":    {Local: 1, Remote: 1},
		"a broadcast address":         {Local: link.BroadcastOptional, Remote: 1},
		"a reserved address":          {Local: 10, Remote: 65520},
		"a keep-alive of no time":     {Local: 10, Remote: 1, KeepAlive: -1},
		"an answer in less than none": {Local: 10, Remote: 1, KeepAliveAnswer: -1},
	} {
		if _, err := station.NewPort(c, &echo{}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	r, _ := newRig(t, station.Config{Local: 10, Remote: 1})
	twin, err := station.NewPort(station.Config{Local: 10, Remote: 1}, &echo{})
	if err != nil {
		t.Fatal(err)
	}
	if r.mux.Add(twin) == nil {
		t.Error("two ports with the same addresses share a line")
	}
}

func TestASilentPeerIsAskedAndThenDead(t *testing.T) {
	r, _ := newRig(t, station.Config{Local: 10, Remote: 1, KeepAlive: time.Minute})
	port := r.mux.Ports()[0]
	pass := func(d time.Duration) {
		r.now = r.now.Add(d)
		r.mux.Tick(r.now, r.out)
	}
	pass(59 * time.Second)
	if said := r.said(); said != nil {
		t.Fatalf("said %q before the time", said)
	}
	pass(time.Second)
	if diff := cmp.Diff([]string{"49 1"}, r.said()); diff != "" {
		t.Fatal(diff)
	}
	r.hear(t, link.DIR|link.Control(link.LinkStatus), 1, 10, "")
	pass(59 * time.Second)
	if port.Dead() || r.said() != nil {
		t.Fatal("an answer does not count")
	}
	pass(time.Second)
	pass(5 * time.Second)
	if !port.Dead() {
		t.Error("no answer does not count")
	}
}
