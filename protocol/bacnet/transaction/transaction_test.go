package transaction_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wire notes what is sent, in hexadecimal.
type wire struct{ sent []string }

func (w *wire) Send(_ string, message []byte, _ bool) {
	w.sent = append(w.sent, strings.ToUpper(hex.EncodeToString(message)))
}

// said returns what was sent since it was last asked.
func (w *wire) said() []string {
	sent := w.sent
	w.sent = nil
	return sent
}

// bench is a client and a server that a test talks to as their peer.
type bench struct {
	wire
	client *transaction.Client[string]
	server *transaction.Server[string]
	now    time.Time

	answers []string // of the client
	errs    []error
	asked   []transaction.Indication[string]
}

func newBench(c transaction.Config) *bench {
	b := &bench{now: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.client = transaction.NewClient(c, &b.wire)
	b.server = transaction.NewServer(c, &b.wire, func(_ time.Time, i transaction.Indication[string]) {
		b.asked = append(b.asked, i)
	})
	return b
}

func (b *bench) start(t *testing.T, payload []byte, limits transaction.Limits) {
	t.Helper()
	err := b.client.Start(b.now, transaction.Request[string]{
		Peer: "device", Limits: limits, Service: service.ReadProperty, Payload: payload,
		Done: func(answer []byte, err error) {
			b.answers, b.errs = append(b.answers, string(answer)), append(b.errs, err)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hear gives a message to whom it is for.
func (b *bench) hear(t *testing.T, text string) {
	t.Helper()
	h, payload, err := apdu.Parse(octets(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if h.Type == apdu.ConfirmedRequest || (h.Type == apdu.SegmentAck || h.Type == apdu.Abort) && !h.Server {
		b.server.Receive(b.now, "peer", h, payload)
		return
	}
	b.client.Receive(b.now, "device", h, payload)
}

func (b *bench) after(d time.Duration) {
	b.now = b.now.Add(d)
	b.client.Tick(b.now)
	b.server.Tick(b.now)
}

func (b *bench) expect(t *testing.T, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " ", "")
	}
	if got := b.said(); !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestARequestIsAnswered(t *testing.T) { // clause 5.4.4
	b := newBench(transaction.Config{})
	b.start(t, octets(t, "0C 00 00 00 05 19 55"), transaction.Limits{})
	b.expect(t, "02 75 00 0C 0C 00 00 00 05 19 55")
	b.hear(t, "30 00 0C 41 42")
	if !slices.Equal(b.answers, []string{"AB"}) || b.errs[0] != nil || b.client.Open() != 0 || !b.client.Next().IsZero() {
		t.Errorf("answers %q, errors %v", b.answers, b.errs)
	}
}

func TestARequestIsRepeatedUntilItIsGivenUp(t *testing.T) { // clause 5.4.4.3
	b := newBench(transaction.Config{Retries: 2, Timeout: time.Second})
	b.start(t, nil, transaction.Limits{})
	for range 3 {
		b.expect(t, "02 75 00 0C")
		b.after(999 * time.Millisecond)
		b.expect(t)
		b.after(time.Millisecond)
	}
	if len(b.errs) != 1 || !errors.Is(b.errs[0], transaction.ErrTimeout) || b.client.Open() != 0 {
		t.Errorf("errors %v, want %v", b.errs, transaction.ErrTimeout)
	}
}

func TestRefusalsOfADevice(t *testing.T) { // clause 18
	for name, tt := range map[string]struct {
		answer string
		want   error
	}{
		"an error":          {"50 00 0C 91 02 91 20", service.Error{Class: enum.ClassProperty, Code: enum.CodeUnknownProperty}},
		"a reject":          {"60 00 09", transaction.RejectError{Reason: enum.RejectUnrecognizedService}},
		"an abort":          {"71 00 04", transaction.AbortError{Reason: enum.AbortSegmentationNotSupported}},
		"a simple ack":      {"20 00 0C", nil},
		"an error, wrapped": {"50 00 0C 0E 91 02 91 20 0F 1E 21 01 1F", service.Error{Class: enum.ClassProperty, Code: enum.CodeUnknownProperty}},
	} {
		b := newBench(transaction.Config{})
		b.start(t, nil, transaction.Limits{})
		b.hear(t, tt.answer)
		if len(b.errs) != 1 || !errors.Is(b.errs[0], tt.want) {
			t.Errorf("%s gives %v, want %v", name, b.errs, tt.want)
		}
	}
}

func TestAnswersOfOthersAreNotTaken(t *testing.T) {
	b := newBench(transaction.Config{})
	b.start(t, nil, transaction.Limits{})
	for name, answer := range map[string]string{
		"another invoke id":        "30 01 0C 41",
		"another service":          "30 00 0E 41",
		"an abort of a client":     "70 00 04",
		"an ack of a client":       "40 00 00 01",
		"a segment nobody asked":   "3C 01 00 02 0C 41",
		"the middle of an answer":  "3C 00 05 02 0C 41",
		"an ack without a request": "41 00 00 01",
	} {
		h, payload, err := apdu.Parse(octets(t, answer))
		if err != nil {
			t.Fatal(err)
		}
		b.client.Receive(b.now, "device", h, payload)
		if len(b.errs) > 0 {
			t.Fatalf("%s ended the request: %v", name, b.errs)
		}
	}
	h, payload, err := apdu.Parse(octets(t, "30 00 0C 41"))
	if err != nil {
		t.Fatal(err)
	}
	if b.client.Receive(b.now, "another device", h, payload) || len(b.errs) > 0 {
		t.Error("the answer of another device with the same invoke id was taken")
	}
}

func TestASegmentedAnswerIsPutTogether(t *testing.T) { // clause 5.4.4.4
	b := newBench(transaction.Config{Window: 2})
	b.start(t, nil, transaction.Limits{})
	b.said()
	b.hear(t, "3C 00 00 04 0C 41")
	b.expect(t, "40 00 00 02") // our window of 2
	b.hear(t, "3C 00 01 04 0C 42")
	b.expect(t)
	b.hear(t, "3C 00 02 04 0C 43")
	b.expect(t, "40 00 02 02")
	b.hear(t, "3C 00 02 04 0C 43") // the acknowledgement was lost
	b.expect(t, "40 00 02 02")
	b.hear(t, "3C 00 04 04 0C 45") // segment 3 was lost
	b.expect(t, "42 00 02 02")
	b.hear(t, "3C 00 05 04 0C 46")
	b.expect(t) // it is asked for once
	b.hear(t, "3C 00 03 04 0C 44")
	b.hear(t, "38 00 04 04 0C 45")
	b.expect(t, "40 00 04 02")
	if !slices.Equal(b.answers, []string{"ABCDE"}) || b.errs[0] != nil {
		t.Errorf("answers %q, errors %v", b.answers, b.errs)
	}
}

func TestASegmentedAnswerThatStopsIsGivenUp(t *testing.T) {
	b := newBench(transaction.Config{SegmentTimeout: time.Second})
	b.start(t, nil, transaction.Limits{})
	b.hear(t, "3C 00 00 04 0C 41")
	for range 7 { // doubled segments do not keep it alive
		b.after(500 * time.Millisecond)
		b.hear(t, "3C 00 00 04 0C 41")
	}
	b.after(500 * time.Millisecond)
	if len(b.errs) != 1 || !errors.Is(b.errs[0], transaction.ErrTimeout) {
		t.Errorf("errors %v, want %v", b.errs, transaction.ErrTimeout)
	}
}

func TestAnAnswerWithoutEndIsAborted(t *testing.T) {
	for name, segment := range map[string]string{"too long": "4142434445", "empty": ""} {
		b := newBench(transaction.Config{MaxMessage: 9})
		b.start(t, nil, transaction.Limits{})
		b.hear(t, "3C 00 00 04 0C 4142434445")
		b.said()
		b.hear(t, "3C 00 01 04 0C "+segment)
		b.expect(t, "70 00 01")
		if want := (transaction.AbortError{Reason: enum.AbortBufferOverflow, Ours: true}); len(b.errs) != 1 || !errors.Is(b.errs[0], want) {
			t.Errorf("%s: errors %v, want %v", name, b.errs, want)
		}
	}
}

func TestASegmentedRequestIsSentInWindows(t *testing.T) { // clause 5.4.4.2
	b := newBench(transaction.Config{Window: 4, SegmentTimeout: time.Second, Retries: 1})
	payload := make([]byte, 44*3+1) // segments of 50 - 6 octets
	b.start(t, payload, transaction.Limits{MaxAPDU: 50, Segments: true})
	heads := func(want ...string) {
		t.Helper()
		var got []string
		for _, message := range b.said() {
			got = append(got, message[:12])
		}
		if !slices.Equal(got, want) {
			t.Errorf("sent segments %q, want %q", got, want)
		}
	}
	heads("0E750000040C")
	b.hear(t, "41 00 00 02")
	heads("0E750001040C", "0E750002040C")
	b.hear(t, "43 00 00 02") // segment 1 was lost
	heads("0E750001040C", "0E750002040C")
	b.hear(t, "41 00 01 02") // only the first arrived
	heads("0E750002040C", "0A750003040C")
	b.after(time.Second)
	heads("0E750002040C", "0A750003040C")
	b.hear(t, "41 00 03 02")
	b.hear(t, "20 00 0C")
	if len(b.errs) != 1 || b.errs[0] != nil {
		t.Errorf("errors %v", b.errs)
	}
}

func TestARequestThatTheDeviceCannotTakeIsRefused(t *testing.T) {
	b := newBench(transaction.Config{})
	for name, limits := range map[string]transaction.Limits{
		"no segments": {MaxAPDU: 50}, "too few segments": {MaxAPDU: 50, Segments: true, MaxSegments: 2},
	} {
		err := b.client.Start(b.now, transaction.Request[string]{Limits: limits, Payload: make([]byte, 200)})
		if !errors.Is(err, transaction.ErrTooLong) {
			t.Errorf("%s: error %v, want %v", name, err, transaction.ErrTooLong)
		}
	}
}

func TestNoMoreThan256RequestsToADevice(t *testing.T) { // clause 20.1.2.6
	b := newBench(transaction.Config{})
	for range 256 {
		b.start(t, nil, transaction.Limits{})
	}
	if err := b.client.Start(b.now, transaction.Request[string]{Peer: "device"}); !errors.Is(err, transaction.ErrBusy) {
		t.Errorf("error %v, want %v", err, transaction.ErrBusy)
	}
	if err := b.client.Start(b.now, transaction.Request[string]{Peer: "another"}); err != nil {
		t.Errorf("a request to another device: %v", err)
	}
	b.client.Cancel("device", errors.New("enough"))
	if len(b.errs) != 256 || b.client.Open() != 1 {
		t.Errorf("%d requests ended, %d are open", len(b.errs), b.client.Open())
	}
}

func TestAServerAnswers(t *testing.T) { // clause 5.4.5
	b := newBench(transaction.Config{})
	b.hear(t, "00 05 07 0C AA BB")
	if len(b.asked) != 1 || b.asked[0].Service != service.ReadProperty || string(b.asked[0].Payload) != "\xAA\xBB" {
		t.Fatalf("asked %+v", b.asked)
	}
	b.hear(t, "00 05 07 0C AA BB") // repeated while the answer is made
	b.server.Respond(b.now, "peer", 7, transaction.Response{Type: apdu.ComplexAck, Payload: []byte{0xCC}})
	b.server.Respond(b.now, "peer", 7, transaction.Response{Type: apdu.ComplexAck, Payload: []byte{0xDD}})
	b.expect(t, "30 07 0C CC")
	if len(b.asked) != 1 || b.server.Open() != 0 {
		t.Errorf("asked %d times, %d open", len(b.asked), b.server.Open())
	}
	for want, r := range map[string]transaction.Response{
		"20070C":         {Type: apdu.SimpleAck},
		"50070C91029120": {Type: apdu.Error, Payload: []byte{0x91, 2, 0x91, 0x20}},
		"600709":         {Type: apdu.Reject, Reason: 9},
		"710700":         {Type: apdu.Abort},
	} {
		b.hear(t, "00 05 07 0C")
		b.server.Respond(b.now, "peer", 7, r)
		b.expect(t, want)
	}
}

func TestAServerSendsSegments(t *testing.T) { // clause 5.4.5.4
	b := newBench(transaction.Config{Window: 8, SegmentTimeout: time.Second, Retries: 1})
	b.hear(t, "02 70 07 0C") // APDUs of 50 octets
	answer := []byte(strings.Repeat("A", 45) + strings.Repeat("B", 45) + "C")
	b.server.Respond(b.now, "peer", 7, transaction.Response{Type: apdu.ComplexAck, Payload: answer})
	first, second, third := "3C 07 00 08 0C "+strings.Repeat("41", 45), "3C 07 01 08 0C "+strings.Repeat("42", 45), "38 07 02 08 0C 43"
	b.expect(t, first)
	b.after(time.Second)
	b.expect(t, first)
	b.hear(t, "40 07 00 08")
	b.expect(t, second, third)
	b.hear(t, "40 07 02 08")
	if b.server.Open() != 0 {
		t.Error("the transaction is not over")
	}
}

func TestAServerRefusesAnAnswerThatTheClientCannotTake(t *testing.T) {
	for request, want := range map[string]string{"00 70 07 0C": "71 07 04", "02 10 07 0C": "71 07 01"} {
		b := newBench(transaction.Config{})
		b.hear(t, request)
		b.server.Respond(b.now, "peer", 7, transaction.Response{Type: apdu.ComplexAck, Payload: make([]byte, 200)})
		b.expect(t, want)
	}
}

func TestAServerPutsARequestTogether(t *testing.T) { // clause 5.4.5.2
	b := newBench(transaction.Config{Window: 2, SegmentTimeout: time.Second})
	b.hear(t, "0E 75 07 00 04 0F 41")
	b.expect(t, "41 07 00 02")
	b.hear(t, "0E 75 07 01 04 0F 42")
	b.hear(t, "0A 75 07 02 04 0F 43")
	b.expect(t, "41 07 02 02")
	b.hear(t, "0A 75 07 02 04 0F 43")
	b.expect(t, "41 07 02 02")
	if len(b.asked) != 1 || string(b.asked[0].Payload) != "ABC" {
		t.Errorf("asked %+v", b.asked)
	}
	b.hear(t, "0E 75 08 03 04 0F 41")
	b.expect(t, "71 08 02") // not the first segment
	b.hear(t, "0E 75 09 00 04 0F 41")
	b.after(4 * time.Second)
	b.hear(t, "70 07 00")
	if b.server.Open() != 0 {
		t.Errorf("%d transactions are open after a stop of segments and an abort", b.server.Open())
	}
}

func TestAServerBoundsWhatItWorksOn(t *testing.T) {
	b := newBench(transaction.Config{MaxServed: 2})
	for _, request := range []string{"00 05 01 0C", "00 05 02 0C", "00 05 03 0C"} {
		b.hear(t, request)
	}
	b.expect(t, "71 03 09")
	b.after(time.Minute)
	if b.server.Open() != 0 {
		t.Errorf("%d requests that nobody answered are kept", b.server.Open())
	}
}
