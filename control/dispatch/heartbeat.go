package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// The events of heartbeats, in addition to those of package control.
const (
	HeartbeatLost control.EventKind = "heartbeat-lost" // the device does not accept it
	HeartbeatBack control.EventKind = "heartbeat-back"
)

// heartbeats are the points that are toggled while the node is alive. They are not part of the model: they cannot
// be commanded, and are neither stored nor in the audit log, except for their failures.
type heartbeats struct {
	outbox  *outbox
	log     *slog.Logger
	list    map[point.Path]*heartbeat
	order   []*heartbeat
	results chan heartbeatResult
}

type heartbeat struct {
	path  point.Path
	every time.Duration
	kind  point.Kind
	next  time.Duration // on the steady clock
	on    bool          // what is written next
	busy  bool          // a write is in progress
	lost  bool          // the last one failed
}

// heartbeatResult is the outcome of one write.
type heartbeatResult struct {
	of  *heartbeat
	err error
}

// declare replaces the heartbeats by those of the points. Ones that stay keep their rhythm.
func (b *heartbeats) declare(now control.Instant, points []Point) {
	list := make(map[point.Path]*heartbeat)
	b.order = nil
	for i := range points {
		p := &points[i]
		if p.Heartbeat <= 0 {
			continue
		}
		known := b.list[p.Point]
		if known == nil || known.every != p.Heartbeat || known.kind != p.Kind {
			known = &heartbeat{path: p.Point, every: p.Heartbeat, kind: p.Kind, next: now.Steady, on: true}
		}
		list[p.Point] = known
		b.order = append(b.order, known)
	}
	b.list = list
}

// due returns the time until the next heartbeat.
func (b *heartbeats) due(now control.Instant) time.Duration {
	wait := time.Minute
	for _, h := range b.order {
		wait = min(wait, h.next-now.Steady)
	}
	return wait
}

// write writes the heartbeats that are due. One whose write is still in progress skips a beat.
func (b *heartbeats) write(ctx context.Context, now control.Instant) {
	for _, h := range b.order {
		if h.next > now.Steady {
			continue
		}
		h.next += h.every * (1 + (now.Steady-h.next)/h.every)
		if h.busy {
			continue
		}
		value := point.BoolOf(h.on)
		if h.kind != point.Bool {
			number, _ := value.Int()
			value = point.IntOf(number)
		}
		if h.kind == point.Float {
			number, _ := value.Number()
			value = point.FloatOf(number)
		}
		h.on, h.busy = !h.on, true
		b.outbox.inFlight++
		b.outbox.writes.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, waitWrite)
			defer cancel()
			outcome := b.outbox.devices.WriteMany(ctx, []device.Setting{{Point: h.path, Value: value}})
			b.results <- heartbeatResult{h, outcome[0].Err}
		})
	}
}

// answered records whether a device accepts its heartbeat.
func (b *heartbeats) answered(t *turn, result heartbeatResult) {
	b.outbox.inFlight--
	h := result.of
	lost := result.err != nil
	h.busy = false
	if lost == h.lost || !slices.Contains(b.order, h) {
		return
	}
	h.lost = lost
	e := control.Event{Kind: HeartbeatBack, Holder: control.Holder{Requester: node, Path: h.path}}
	entry := audit.Entry{Actor: node, Action: "control." + string(HeartbeatBack), Subject: string(h.path), Outcome: "ok"}
	if lost {
		e.Kind, e.Fault, e.Text = HeartbeatLost, fault.KindOf(result.err), result.err.Error()
		entry.Action, entry.Outcome = "control."+string(HeartbeatLost), result.err.Error()
		b.log.Warn("heartbeat is not taken", slog.String("point", string(h.path)), slog.Any("err", result.err))
	}
	t.events = append(t.events, e)
	t.entries = append(t.entries, entry)
}
