package transaction_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// letter is a message on its way.
type letter struct {
	to      string
	at      time.Time
	message []byte
}

// network loses, doubles and delays messages between a client and a server.
type network struct {
	random  *rand.Rand
	trouble float64 // share of messages that something happens to
	now     time.Time
	letters []letter
	client  *transaction.Client[string]
	server  *transaction.Server[string]
}

func (n *network) Send(to string, message []byte, _ bool) {
	copies := 1
	if n.random.Float64() < n.trouble {
		copies = n.random.IntN(3)
	}
	for range copies {
		delay := time.Millisecond
		if n.random.Float64() < n.trouble {
			delay = time.Duration(n.random.IntN(50)) * time.Millisecond
		}
		n.letters = append(n.letters, letter{to, n.now.Add(delay), bytes.Clone(message)})
	}
}

// step delivers the next message, or lets time pass to the next timer; false if there is neither.
func (n *network) step(t *testing.T) bool {
	t.Helper()
	slices.SortStableFunc(n.letters, func(a, b letter) int { return a.at.Compare(b.at) })
	next := n.client.Next()
	if at := n.server.Next(); next.IsZero() || !at.IsZero() && at.Before(next) {
		next = at
	}
	if len(n.letters) == 0 || !next.IsZero() && next.Before(n.letters[0].at) {
		if next.IsZero() {
			return false
		}
		n.now = next
		n.client.Tick(n.now)
		n.server.Tick(n.now)
		return true
	}
	l := n.letters[0]
	n.letters, n.now = n.letters[1:], l.at
	h, payload, err := apdu.Parse(l.message)
	if err != nil {
		t.Fatal(err)
	}
	if l.to == "server" {
		n.server.Receive(n.now, "client", h, payload)
	} else {
		n.client.Receive(n.now, "server", h, payload)
	}
	return true
}

// TestEveryRequestEndsOnceWhateverTheNetworkDoes plays random conversations: each request must end
// exactly once, with the right answer or an error, and nothing may be kept afterwards.
func TestEveryRequestEndsOnceWhateverTheNetworkDoes(t *testing.T) {
	answered := 0
	for seed := range uint64(400) {
		answered += play(t, seed)
	}
	if answered < 400 {
		t.Errorf("only %d requests were answered", answered)
	}
}

func play(t *testing.T, seed uint64) (answered int) {
	t.Helper()
	n := &network{random: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	n.trouble = float64(seed%5) * 0.1
	c := transaction.Config{Window: uint8(1 + n.random.IntN(8)), MaxAPDU: []int{50, 128, 480}[n.random.IntN(3)]}
	n.client = transaction.NewClient(c, n)
	n.server = transaction.NewServer(c, n, func(now time.Time, i transaction.Indication[string]) {
		answer := bytes.Repeat(i.Payload, 1+int(i.Payload[0])%7)
		n.server.Respond(now, i.Peer, i.InvokeID, transaction.Response{Type: apdu.ComplexAck, Payload: answer})
	})
	ended := make([]int, 5)
	for i := range ended {
		payload := make([]byte, 1+n.random.IntN(1500))
		for j := range payload {
			payload[j] = byte(n.random.Uint32())
		}
		err := n.client.Start(n.now, transaction.Request[string]{
			Peer: "server", Limits: transaction.Limits{MaxAPDU: 50, Segments: true}, Service: service.ReadProperty, Payload: payload,
			Done: func(answer []byte, err error) {
				ended[i]++
				if err == nil {
					answered++
				}
				if err == nil && !bytes.Equal(answer, bytes.Repeat(payload, 1+int(payload[0])%7)) {
					t.Errorf("seed %d: the answer to request %d is wrong", seed, i)
				}
				if n.trouble == 0 && err != nil {
					t.Errorf("seed %d: without trouble request %d gives %v", seed, i, err)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for steps := 0; n.step(t); steps++ {
		if steps > 100_000 {
			t.Fatalf("seed %d: the conversation does not end", seed)
		}
	}
	if slices.ContainsFunc(ended, func(n int) bool { return n != 1 }) || n.client.Open() != 0 || n.server.Open() != 0 {
		t.Errorf("seed %d: requests ended %v times; open: %d, %d", seed, ended, n.client.Open(), n.server.Open())
	}
	return answered
}

// FuzzMachines gives any messages, with time between them, to a client with open requests and to a
// server: nothing may panic, and everything must end when time has passed.
func FuzzMachines(f *testing.F) {
	f.Add([]byte{6, 0x3C, 0, 0, 4, 0x0C, 0x41, 6, 0x3C, 0, 1, 4, 0x0C, 0x42, 4, 0x40, 7, 0, 8, 6, 0x0E, 0x75, 7, 0, 4, 0x0F})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBench(transaction.Config{Window: 4, MaxMessage: 4096, MaxServed: 8})
		for range 3 {
			b.start(t, make([]byte, 300), transaction.Limits{MaxAPDU: 50, Segments: true})
		}
		for len(data) > 0 {
			size := min(int(data[0]), len(data)-1)
			h, payload, err := apdu.Parse(data[1 : 1+size])
			data = data[1+size:]
			if err != nil {
				b.after(time.Duration(size) * 100 * time.Millisecond)
				continue
			}
			b.client.Receive(b.now, "device", h, payload)
			b.server.Receive(b.now, "peer", h, payload)
			for _, i := range b.asked {
				b.server.Respond(b.now, i.Peer, i.InvokeID, transaction.Response{Type: apdu.ComplexAck, Payload: make([]byte, 300)})
			}
			b.asked = nil
		}
		for range 200 {
			b.after(time.Minute)
		}
		if len(b.errs) != 3 || b.client.Open() != 0 || b.server.Open() != 0 {
			t.Errorf("%d requests ended; open: %d, %d", len(b.errs), b.client.Open(), b.server.Open())
		}
		for _, err := range b.errs {
			if err != nil && errors.Is(err, transaction.ErrBusy) {
				t.Errorf("a request ended with %v", err)
			}
		}
	})
}
