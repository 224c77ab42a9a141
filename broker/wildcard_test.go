package broker_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/broker/setting"
	"voltbus/protocol/mqtt/packet"
)

// subscribe makes subscriptions, a hundred with each packet, reads all that is sent for them, and returns the answer to each and how many messages came.
func (d *device) subscribe(filters []string) (codes []byte, messages int) {
	d.t.Helper()
	for part := range slices.Chunk(filters, 100) {
		c, n := d.subscribeOnce(part)
		codes, messages = append(codes, c...), messages+n
	}
	return codes, messages
}

func (d *device) subscribeOnce(filters []string) (codes []byte, messages int) {
	d.t.Helper()
	sub := packet.Subscribe{ID: 9}
	for _, f := range filters {
		sub.Subscriptions = append(sub.Subscriptions, packet.Subscription{Filter: []byte(f)})
	}
	text, err := sub.Append(nil, packet.V5)
	if err != nil {
		d.t.Fatal(err)
	}
	text = append(text, byte(packet.PINGREQ)<<4, 0)
	go func() { _, _ = d.conn.Write(text) }()
	in := bufio.NewReader(d.conn)
	for {
		kind, err := in.ReadByte()
		if err != nil {
			d.t.Fatal(err)
		}
		length, err := binary.ReadUvarint(in)
		if err != nil {
			d.t.Fatal(err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			d.t.Fatal(err)
		}
		switch packet.Type(kind >> 4) {
		case packet.SUBACK:
			codes = body[3:]
		case packet.PUBLISH:
			messages++
		case packet.PINGRESP:
			return codes, messages
		default:
			d.t.Fatalf("there comes %v % x", packet.Type(kind>>4), body)
		}
	}
}

// Each of many filters looks at every retained message. The work is bounded: when it has looked at so many topics, the
// rest of the subscriptions is refused until time has passed, and what is sent is bounded anyway. Time is virtual.
func TestAttackManyFiltersOverAllRetainedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, bounded(setting.Kind{}))
		a := s.client("a", packet.Connect{ClientID: []byte("a"), CleanStart: true})
		const kept = 8000
		for i := range kept {
			a.publish(fmt.Sprint("devices/a/x/", i), 1, true)
		}
		var filters []string
		for i := range 150 { // none matches
			filters = append(filters, fmt.Sprint("devices/a/+/+/", i))
		}
		codes, messages := a.subscribe(filters)
		refused := bytes.Count(codes, []byte{byte(packet.QuotaExceeded)})
		if looked := (len(codes) - refused) * kept; len(codes) != 150 || refused == 0 || looked > 1_100_000 || messages > 0 {
			t.Errorf("%d of %d filters are refused, and %d messages came", refused, len(codes), messages)
		}
		<-time.After(time.Second) // virtual
		if codes, messages = a.subscribe([]string{"devices/a/#"}); codes[0] != 0 || messages == 0 || messages > kept {
			t.Errorf("a second later one is answered % x, with %d messages", codes, messages)
		}
		before := s.Counts()
		codes, messages = a.subscribe(slices.Repeat([]string{"devices/a/#"}, 100))
		after := s.Counts()
		if done := after.Delivered + after.Dropped - before.Delivered - before.Dropped; bytes.Count(codes, []byte{0}) != 100 || done > uint64(messages)+100 {
			t.Errorf("100 filters that match all are answered % x, %d messages came, and %d were tried", codes, messages, done)
		}
	})
}

// A message that matches very many filters of a client comes once.
func TestAttackAMessageMatchesManyFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, bounded(setting.Kind{}))
		a, pub := s.client("a", packet.Connect{ClientID: []byte("a"), CleanStart: true}), s.client("a", packet.Connect{ClientID: []byte("p"), CleanStart: true})
		var filters []string
		for i := range 190 {
			filter := []byte("devices/a/a/a/a/a/a/a/a/a/a/a")
			for bit := range 10 {
				if i>>bit&1 == 1 {
					filter[10+2*bit] = '+'
				}
			}
			filters = append(filters, string(filter))
		}
		if codes, _ := a.subscribe(filters); bytes.Count(codes, []byte{0}) != 190 {
			t.Fatalf("the filters are answered % x", codes)
		}
		if !pub.publish("devices/a"+strings.Repeat("/a", 10), 1, false) {
			t.Error("the message is refused")
		}
		if _, messages := a.subscribe([]string{"devices/a/other"}); messages != 1 {
			t.Errorf("it came %d times", messages)
		}
	})
}

// A topic of very many levels takes more than its text, and counts so.
func TestAttackDeepRetainedTopicsTakeNoRoomThatIsNotThere(t *testing.T) {
	s := newSite(t, func(s *setting.Section) { s.Retained, s.RetainedBytes = 1000, 40_000 })
	a, kept := s.client("a", packet.Connect{ClientID: []byte("a"), CleanStart: true}), 0
	for i := range 20 {
		if a.publish(fmt.Sprint("devices/a/", i, strings.Repeat("/", 60)), 1, true) {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d topics of 63 levels are kept in a quarter of 40,000 bytes", kept)
	}
	if !a.publish("devices/a/b/c/d/e/f/g", 1, true) {
		t.Error("one of eight levels is refused")
	}
}
