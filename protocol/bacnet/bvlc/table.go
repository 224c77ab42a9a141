package bvlc

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

// Peer is an entry of a broadcast distribution table (J.4.3).
type Peer struct {
	BBMD netip.AddrPort
	Mask [4]byte // 255.255.255.255: forward to the BBMD itself
}

// Foreign is an entry of a foreign device table (J.5.2.1).
type Foreign struct {
	Device netip.AddrPort
	TTL    time.Duration // whole seconds, as it was registered
	Left   time.Duration // whole seconds, until the entry is deleted
}

// Peers reads the entries of WriteBroadcastTable and ReadBroadcastTableAck.
func (m Message) Peers() ([]Peer, error) {
	if len(m.Data)%bdtEntry != 0 {
		return nil, fmt.Errorf("broadcast distribution table: %w", ErrTruncated)
	}
	peers := make([]Peer, 0, len(m.Data)/bdtEntry)
	for p := m.Data; len(p) > 0; p = p[bdtEntry:] {
		peers = append(peers, Peer{BBMD: readAddress(p), Mask: [4]byte(p[address:])})
	}
	return peers, nil
}

// Foreigns reads the entries of ReadForeignTableAck.
func (m Message) Foreigns() ([]Foreign, error) {
	if len(m.Data)%fdtEntry != 0 {
		return nil, fmt.Errorf("foreign device table: %w", ErrTruncated)
	}
	foreigns := make([]Foreign, 0, len(m.Data)/fdtEntry)
	for p := m.Data; len(p) > 0; p = p[fdtEntry:] {
		foreigns = append(foreigns, Foreign{
			Device: readAddress(p),
			TTL:    seconds(p[address:]),
			Left:   seconds(p[address+2:]),
		})
	}
	return foreigns, nil
}

func seconds(p []byte) time.Duration {
	return time.Duration(binary.BigEndian.Uint16(p)) * time.Second
}

// AppendPeers writes a broadcast distribution table: WriteBroadcastTable or ReadBroadcastTableAck.
func AppendPeers(b []byte, f Function, peers []Peer) []byte {
	b = appendHeader(b, f, len(peers)*bdtEntry)
	for _, p := range peers {
		b = append(appendAddress(b, p.BBMD), p.Mask[:]...)
	}
	return b
}

// AppendForeigns writes the answer with a foreign device table.
func AppendForeigns(b []byte, foreigns []Foreign) []byte {
	b = appendHeader(b, ReadForeignTableAck, len(foreigns)*fdtEntry)
	for _, f := range foreigns {
		b = appendAddress(b, f.Device)
		b = binary.BigEndian.AppendUint16(b, uint16(f.TTL/time.Second))
		b = binary.BigEndian.AppendUint16(b, uint16(f.Left/time.Second))
	}
	return b
}
