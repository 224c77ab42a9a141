package application

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/mqtt/session"
	"voltbus/wire"
)

// Log is the log of blocks.
type Log interface {
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Read delivers blocks from a sequence number on, in order, until ctx ends.
	Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// retryTime is the pause after the log could not be read.
const retryTime = time.Second

// publish publishes what is recorded from now on to the applications.
func (g *Gate) publish(ctx context.Context) {
	next := uint64(0)
	for ctx.Err() == nil {
		err := g.follow(ctx, &next)
		if ctx.Err() != nil {
			return
		}
		g.cfg.Log.WarnContext(ctx, "the status for applications cannot be read from the log", slog.Any("err", err))
		select {
		case <-ctx.Done():
		case <-time.After(retryTime):
		}
	}
}

// follow reads the log from next on, or from its end if that is 0.
func (g *Gate) follow(ctx context.Context, next *uint64) error {
	if *next == 0 {
		_, last, err := g.cfg.Blocks.Bounds(ctx)
		if err != nil {
			return err
		}
		*next = last + 1
	}
	var decoder wire.Decoder
	var block point.Block
	return g.cfg.Blocks.Read(ctx, *next, func(sequence uint64, data []byte) error {
		*next = sequence + 1
		if err := decoder.DecodeBlock(data, &block); err != nil || point.IsMeterOrigin(block.Origin) {
			return nil //nolint:nilerr // the recorder and the history report what is damaged
		}
		for _, s := range g.cfg.Applications {
			if n := g.tell(&s, &block); n > 0 {
				g.mu.Lock()
				g.apps[s.Name].state.Published += uint64(n) //nolint:gosec // a count
				g.mu.Unlock()
			}
		}
		return nil
	})
}

// reading is a reading for applications.
type reading struct {
	Point   point.Path  `json:"point"`
	Time    time.Time   `json:"time"`
	Value   point.Value `json:"value"`
	Quality string      `json:"quality"`
}

// plainTopic replaces what may not stand in a topic.
var plainTopic = strings.NewReplacer("%", "%25", "+", "%2B", "#", "%23") //nolint:gochecknoglobals // a table

// tell publishes the readings of a block that an application may have, and returns how many.
func (g *Gate) tell(s *setting.Application, b *point.Block) (n int) {
	wanted := make([]bool, len(b.Points))
	for i, path := range b.Points {
		wanted[i] = slices.ContainsFunc(s.Status, func(p string) bool { return point.Pattern(p).Match(path) })
	}
	for i := range b.Point {
		if !wanted[b.Point[i]] {
			continue
		}
		one := b.Sample(i)
		payload, err := json.Marshal(reading{one.Point, one.Time.UTC(), one.Value, one.Quality.String()})
		if err != nil {
			continue
		}
		g.cfg.Send(&session.Message{Topic: topicOf(s.Name, setting.StatusTopic, plainTopic.Replace(string(one.Point))), Payload: payload, QoS: 1})
		n++
	}
	return n
}
