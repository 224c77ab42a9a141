package dnp3_test

import (
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/transport"
)

// The exchange with which DNP3 stacks are compared: an outstation reports 100
// events of three types in one unsolicited response.
const (
	fragmentSize = 1526
	wireSize     = 1801
	wireFile     = "testdata/unsolicited-100-events.hex"
)

var update = flag.Bool("update", false, "write the golden file anew")

// fromOutstation is the link header of everything outstation 10 sends to master 1.
var fromOutstation = link.Header{Control: link.UnconfirmedUserData.With(0), Destination: 1, Source: 10}

// event is one entry of the response.
type event struct {
	variation object.Variation
	point     object.Point
}

// exchangeEvents returns 100 events in random order, from a seed that gives 32
// binary inputs, 25 counters and 43 analog inputs under 70 object headers.
func exchangeEvents() []event {
	random := rand.New(rand.NewPCG(39994, 0))
	events := make([]event, 100)
	for i := range events {
		kind := random.IntN(3)
		p := object.Point{
			Index: uint32(random.IntN(11)),
			Flags: object.FlagOnline,
			Time:  object.Timestamp{Milliseconds: 1_700_000_000_000 + uint64(random.Uint32()), Quality: object.TimeAbsolute},
		}
		n := random.IntN(1 << 16)
		switch kind {
		case 0:
			p.Value = object.Bool(n&1 == 1)
			events[i] = event{object.G2V2, p}
		case 1:
			p.Value = object.Unsigned(uint64(n))
			events[i] = event{object.G22V5, p}
		default:
			p.Value = object.Signed(int64(n - 1<<15))
			events[i] = event{object.G32V3, p}
		}
	}
	return events
}

// encode builds the response in buf.
func encode(tb testing.TB, buf []byte, events []event) []byte {
	tb.Helper()
	control := app.Sequence(3).Single() | app.CON | app.UNS
	w := app.NewResponse(buf, control, app.FuncUnsolicitedResponse, 0)
	for i := range events {
		if err := w.Indexed(events[i].variation, events[i].point); err != nil {
			tb.Fatal(err)
		}
	}
	return w.Bytes()
}

// receiver is what a session keeps to receive.
type receiver struct {
	parser link.Parser
	joiner transport.Reassembler
	room   [link.MaxPayload]byte
}

func newReceiver() *receiver {
	r := new(receiver)
	r.joiner.Lend(make([]byte, 0, 2048))
	return r
}

// receive joins the frames of a stream to the first fragment in it, nil if there
// is none.
func (r *receiver) receive(stream []byte) []byte {
	for {
		frame, n, ok := r.parser.Next(stream, &r.room)
		if !ok {
			return nil
		}
		if fragment, complete := r.joiner.Add(frame.Payload); complete {
			return fragment
		}
		stream = stream[n:]
	}
}

// compare reads a fragment and returns how many points are the expected ones.
func compare(tb testing.TB, octets []byte, want []event) (headers, points int) {
	tb.Helper()
	fragment, err := app.Parse(octets)
	if err != nil {
		tb.Fatal(err)
	}
	for h, err := range fragment.Headers() {
		if err != nil {
			tb.Fatal(err)
		}
		headers++
		for p := range h.Points() {
			if w := &want[points]; w.variation != h.Variation || w.point != p {
				tb.Fatalf("event %d is %v %+v, want %+v", points, h.Variation, p, *w)
			}
			points++
		}
	}
	return headers, points
}

// golden returns the recorded octets.
func golden(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile(wireFile)
	if err != nil {
		tb.Fatal(err)
	}
	octets, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return octets
}

func TestTheExchangeIsEncodedToTheRecordedOctets(t *testing.T) {
	fragment := encode(t, make([]byte, 0, 2048), exchangeEvents())
	if len(fragment) != fragmentSize {
		t.Errorf("the fragment has %d octets, want %d", len(fragment), fragmentSize)
	}
	wire, next, err := transport.AppendFragment(nil, fromOutstation, 0, fragment)
	if err != nil {
		t.Fatal(err)
	}
	if len(wire) != wireSize || transport.Size(len(fragment)) != wireSize || next != 7 {
		t.Errorf("%d octets in %d frames, want %d in 7", len(wire), next, wireSize)
	}
	if *update {
		if err := os.WriteFile(wireFile, lines(wire), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if string(wire) != string(golden(t)) {
		t.Error("the octets differ from the recorded ones")
	}
}

// lines prints octets in hexadecimal, 32 to a line.
func lines(p []byte) []byte {
	var text []byte
	for len(p) > 0 {
		n := min(32, len(p))
		text = append(hex.AppendEncode(text, p[:n]), '\n')
		p = p[n:]
	}
	return text
}

func TestTheRecordedOctetsDecodeToTheExchange(t *testing.T) {
	octets := newReceiver().receive(golden(t))
	headers, points := compare(t, octets, exchangeEvents())
	if headers != 70 || points != 100 {
		t.Errorf("%d headers and %d points, want 70 and 100", headers, points)
	}
}

func TestTheExchangeAllocatesNothing(t *testing.T) {
	events, buf, out := exchangeEvents(), make([]byte, 0, 2048), make([]byte, 0, 2048)
	receiver := newReceiver()
	allocations := testing.AllocsPerRun(100, func() {
		wire, _, err := transport.AppendFragment(out, fromOutstation, 0, encode(t, buf, events))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, receiver.receive(wire), events)
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func TestTheExchangeSurvivesNoLostFrame(t *testing.T) {
	wire := golden(t)
	for lost := range 7 {
		torn := append([]byte(nil), wire...)
		torn[lost*link.MaxFrame+link.HeaderSize] ^= 1
		receiver := newReceiver()
		if fragment := receiver.receive(torn); fragment != nil {
			t.Errorf("frame %d is damaged and the fragment complete", lost)
		}
		if c := receiver.parser.Counters(); c.Frames != 6 || c.BlockErrors != 1 {
			t.Errorf("frame %d damaged: %+v", lost, c)
		}
	}
}
