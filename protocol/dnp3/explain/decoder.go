package explain

import (
	"fmt"
	"strings"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/transport"
)

const (
	// maxFragment bounds the fragments that are joined, in octets.
	maxFragment = 1 << 16
	// maxPeers bounds the pairs of addresses whose fragments are joined.
	maxPeers = 64
)

// Decoder explains the octets of one direction of a line. The zero value is ready. Not
// for concurrent use.
type Decoder struct {
	parser link.Parser
	rest   []byte
	peers  map[pair]*transport.Reassembler
}

// pair is who speaks to whom.
type pair struct{ source, destination link.Address }

// Add explains what arrived: a node for each frame that is complete now, and one for
// octets that belong to none. An unfinished frame waits for what arrives next.
func (d *Decoder) Add(octets []byte) []Node {
	var nodes []Node
	var room [link.MaxPayload]byte
	d.rest = append(d.rest, octets...)
	at := 0
	for {
		before := d.parser.Counters()
		frame, n, ok := d.parser.Next(d.rest[at:], &room)
		at += n
		if text := skipped(before, d.parser.Counters()); text != "" {
			nodes = append(nodes, Node{Text: text})
		}
		if !ok {
			d.rest = append(d.rest[:0], d.rest[at:]...)
			return nodes
		}
		nodes = append(nodes, d.frame(frame))
	}
}

// skipped describes what was found between frames, "" for nothing.
func skipped(before, after link.Counters) string {
	octets := after.SkippedOctets - before.SkippedOctets
	if octets == 0 {
		return ""
	}
	words := []string{fmt.Sprintf("SKIPPED %d octets", octets)}
	for _, c := range []struct {
		count uint64
		what  string
	}{
		{after.HeaderErrors - before.HeaderErrors, "header CRC wrong"},
		{after.BlockErrors - before.BlockErrors, "data CRC wrong"},
		{after.LengthErrors - before.LengthErrors, "length below 5"},
	} {
		if c.count > 0 {
			words = append(words, fmt.Sprintf("%s (%d×)", c.what, c.count))
		}
	}
	return strings.Join(words, ", ")
}

func (d *Decoder) frame(f link.Frame) Node {
	c := f.Control
	from := "outstation"
	if c.FromMaster() {
		from = "master"
	}
	n := Node{Text: fmt.Sprintf("LINK %v → %v, %v from %s, %d user octets, CRC right", f.Source, f.Destination, c.Function(), from, len(f.Payload))}
	switch {
	case c.FCV():
		n.Text += fmt.Sprintf(", FCB=%d", bit(c.FCB()))
	case c.DFC():
		n.Text += ", DFC: its buffers are full"
	}
	if err := f.Check(); err != nil {
		n.add("! " + err.Error())
	}
	if c.Function().UserData() && len(f.Payload) > 0 {
		d.segment(&n, f)
	}
	return n
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

// segment explains a transport segment, and the fragment that it completes.
func (d *Decoder) segment(n *Node, f link.Frame) {
	h := transport.Header(f.Payload[0])
	n.add(fmt.Sprintf("TRANSPORT FIR=%d FIN=%d seq=%d", bit(h.First()), bit(h.Final()), h.Sequence()))
	key := pair{f.Source, f.Destination}
	joiner := d.peers[key]
	if joiner == nil {
		if d.peers == nil || len(d.peers) >= maxPeers {
			d.peers = make(map[pair]*transport.Reassembler)
		}
		joiner = &transport.Reassembler{}
		d.peers[key] = joiner
	}
	if h.First() && !h.Final() {
		joiner.Lend(make([]byte, 0, maxFragment))
	}
	if octets, complete := joiner.Add(f.Payload); complete {
		n.Of = append(n.Of, Fragment(octets))
	}
	if !joiner.Open() {
		joiner.TakeBack()
	}
}
