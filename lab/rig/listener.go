package rig

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// Arrival is when one listener had all messages of one scan.
type Arrival struct {
	Slot  string `json:"slot"`  // the scan's time, as the messages have it
	First int64  `json:"first"` // the earliest time in a header, µs since 1970
	Last  int64  `json:"last"`  // when the last message was received, µs since 1970
}

// Took is the interval that PNNL-30858 measures.
func (a *Arrival) Took() time.Duration { return time.Duration(a.Last-a.First) * time.Microsecond }

// Listener connects to a bus like any client and notes the arrival of whole scans.
type Listener struct {
	Address string `json:"address"` // of the bus
	CA      string `json:"ca"`      // file with the certificate authority to trust
	Key     string `json:"key"`     // file with the key to sign in with
	Want    int    `json:"want"`    // messages of a scan
}

// scans counts the messages of each scan. One goroutine uses it.
type scans struct {
	want   int
	slots  map[string]*arriving
	emit   func(Arrival)
	strays int // messages without the two times
}

type arriving struct {
	received int
	first    int64
}

// receive notes a message. The two times are found by their keys: parsing the whole body would
// measure the listener's JSON.
func (s *scans) receive(data []byte, now time.Time) {
	t, err := time.Parse(time.RFC3339, string(field(data, `"time":"`)))
	slot := field(data, `"slot":"`)
	if err != nil || len(slot) == 0 {
		s.strays++
		return
	}
	a := s.slots[string(slot)]
	if a == nil {
		a = &arriving{first: t.UnixMicro()}
		s.slots[string(slot)] = a
	}
	a.first = min(a.first, t.UnixMicro())
	if a.received++; a.received == s.want {
		delete(s.slots, string(slot))
		s.emit(Arrival{Slot: string(slot), First: a.first, Last: now.UnixMicro()})
	}
}

func field(data []byte, key string) []byte {
	_, rest, _ := bytes.Cut(data, []byte(key))
	value, _, _ := bytes.Cut(rest, []byte{'"'})
	return value
}

// dial connects.
func (l *Listener) dial(report func(error)) (*peer.Client, error) {
	key, err := identity.ReadKey(l.Key)
	if err != nil {
		return nil, err
	}
	trusted, err := trust(l.CA)
	if err != nil {
		return nil, err
	}
	return peer.Dial(l.Address, trusted, key, report)
}

// trust returns the settings of connections to a node whose authority's certificate is in a file.
func trust(file string) (*tls.Config, error) {
	ca, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fault.E("rig.listen", fault.Corrupt, file, errors.New("holds no certificate"))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool}, nil
}

// Listen connects; emit is called with every whole scan, from one goroutine.
func (l *Listener) Listen(emit func(Arrival), report func(error)) (*peer.Client, error) {
	client, err := l.dial(report)
	if err != nil {
		return nil, err
	}
	s := &scans{want: l.Want, slots: map[string]*arriving{}, emit: emit}
	err = client.Listen(wire.ScanPrefix+">", 0, func(_ string, data []byte) { s.receive(data, time.Now()) })
	if err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// ListenerKind is the kind of the process of a listener.
const ListenerKind = "listener"

// Said is a line of a listener's process: that it is ready, or an arrival.
type Said struct {
	Ready   bool     `json:"ready,omitempty"`
	Arrival *Arrival `json:"arrival,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// serveListener plays a listener in this process.
func serveListener(ctx context.Context, config []byte, out io.Writer) error {
	var l Listener
	if err := json.Unmarshal(config, &l); err != nil {
		return fault.E("rig.Serve", fault.Invalid, ListenerKind, err)
	}
	lines := make(chan Said, 100) // whole scans: a few a second
	send := func(s Said) {
		select {
		case lines <- s:
		case <-ctx.Done():
		}
	}
	client, err := l.Listen(func(a Arrival) { send(Said{Arrival: &a}) }, func(err error) { send(Said{Error: err.Error()}) })
	if err != nil {
		return err
	}
	defer client.Close()
	if err := say(out, Said{Ready: true}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case line := <-lines:
			if err := say(out, line); err != nil {
				return err
			}
		}
	}
}
