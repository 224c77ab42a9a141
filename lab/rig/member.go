package rig

import (
	"context"
	"crypto/tls"
	"strconv"
	"sync"
	"time"

	"voltbus/bus/peer"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

// member is one child of a crowd.
type member struct {
	log    *shortLog
	sender *sender.Sender
	paths  []point.Path
}

// member makes a child; it dials when its sender runs.
func (c *Crowd) member(i int, config *tls.Config) (*member, error) {
	key, err := identity.ReadKey(c.key(i))
	if err != nil {
		return nil, err
	}
	m := &member{log: newShortLog(CrowdName(i) + "~000000"), paths: make([]point.Path, c.Points)}
	for p := range m.paths {
		m.paths[p] = point.Path("meter/p" + strconv.Itoa(p+1))
	}
	caller := identity.ChildPrefix + CrowdName(i)
	m.sender = sender.New(sender.Config{
		Dial: func(ctx context.Context) (sender.Session, error) {
			conn, err := peer.DialParent(ctx, peer.Way{Address: c.Address, TLS: config.Clone()}, key, caller)
			if err != nil {
				return nil, err
			}
			session, err := sender.Over(conn)
			if err != nil {
				conn.Close()
				return nil, err
			}
			return session, nil
		},
		Own: func() map[string]uplink.Position { return map[string]uplink.Position{m.log.origin: m.log.position()} },
	}, m.log)
	return m, nil
}

// report makes a block each interval, at a place in it of its own.
func (m *member) report(ctx context.Context, c *Crowd, i int) {
	wait := time.NewTimer(c.Interval * time.Duration(i) / time.Duration(c.Children))
	defer wait.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		wait.Reset(c.Interval)
		b := point.Block{Points: m.paths, Created: time.Now().UTC()}
		for p := range m.paths {
			v := float64(mix(uint64(i)<<32^uint64(n)<<8^uint64(p))%1000) / 10
			b.Append(uint32(p), &point.Sample{Time: b.Created, Value: point.FloatOf(v)})
		}
		m.log.append(&b)
	}
}

// shortLog is a log in memory that keeps the newest blocks. It is safe for concurrent use.
type shortLog struct {
	origin string

	mu      sync.Mutex
	encoder wire.Encoder
	first   uint64 // sequence of the oldest block
	blocks  [][]byte
	last    uplink.Position
	grown   chan struct{}
}

// mostBlocks is how many blocks a short log keeps.
const mostBlocks = 1000

func newShortLog(origin string) *shortLog {
	return &shortLog{origin: origin, first: 1, grown: make(chan struct{})}
}

// ID implements sender.Log.
func (l *shortLog) ID() string { return l.origin }

// Bounds implements sender.Log.
func (l *shortLog) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.last.Sequence, nil
}

// Read implements sender.Log.
func (l *shortLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		first, blocks, grown := l.first, l.blocks, l.grown
		l.mu.Unlock()
		for from = max(from, first); from < first+uint64(len(blocks)); from++ {
			if err := deliver(from, blocks[from-first]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// position is how far the log is.
func (l *shortLog) position() uplink.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// append numbers a block and keeps it. One that cannot be encoded would be a defect, and is left out.
func (l *shortLog) append(b *point.Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Origin, b.Sequence, b.Before = l.origin, l.last.Sequence+1, l.last.Samples
	data, err := l.encoder.AppendBlock(nil, b)
	if err != nil {
		return
	}
	l.last = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	if l.blocks = append(l.blocks, data); len(l.blocks) > mostBlocks {
		l.blocks = append([][]byte(nil), l.blocks[mostBlocks/2:]...)
		l.first += mostBlocks / 2
	}
	close(l.grown)
	l.grown = make(chan struct{})
}
