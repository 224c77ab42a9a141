package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/bus"
	"voltbus/device"
	"voltbus/recorder"
	"voltbus/store"
)

// maxGaps is how many gaps the ledger shows.
const maxGaps = 1000

// Ledger implements api.Ledger: for each origin what was produced, acknowledged and stored.
func (n *Node) Ledger(ctx context.Context) (answer.Ledger, error) {
	out := answer.Ledger{State: "ok", Origins: []answer.Origin{}, Gaps: []answer.Gap{}, Damaged: []answer.Damage{}}
	state, err := n.blocks.State(ctx)
	if err != nil {
		return out, err
	}
	out.Log = answer.Log{Bytes: uint64(state.Bytes), MaxBytes: uint64(state.MaxBytes), Blocks: blocksIn(state)}
	positions, err := n.positions(ctx, &out)
	if err != nil && !away(err) {
		return out, err
	}
	if positions == nil {
		positions = map[string]store.Position{}
	}
	stats := n.recorder.Stats()
	if err != nil { // what was stored last is known, and the backlog behind it
		out.State, out.Reason = "backlog", err.Error()
	}
	if stats.Paused != nil {
		out.State, out.Reason = "paused", stats.Paused.Error()
	} else if n.sink != nil && n.sink.Stats().Err != nil {
		out.State, out.Reason = "backlog", n.sink.Stats().Err.Error()
	}
	own := n.opts.Config.Node.Name
	if _, ok := positions[own]; !ok {
		positions[own] = store.Position{}
	}
	for origin, p := range positions {
		if origin == own {
			out.Origins = append([]answer.Origin{n.ownAccount(p, stats)}, out.Origins...)
			continue
		}
		out.Origins = append(out.Origins, account(origin, p, recorder.Stats{
			Produced: p.Samples + p.Refused, Acknowledged: p.Samples, Refused: p.Refused, Sequence: p.Sequence,
		}))
	}
	return out, nil
}

func blocksIn(s bus.LogState) uint64 {
	if s.First > s.Last || s.Last == 0 {
		return 0
	}
	return s.Last - s.First + 1
}

// positions reads the store's side of the ledger. With an error they are those that were known before.
func (n *Node) positions(ctx context.Context, out *answer.Ledger) (map[string]store.Position, error) {
	if n.store == nil {
		return map[string]store.Position{}, nil
	}
	positions, err := n.storePositions(ctx)
	if err != nil {
		return positions, err
	}
	gaps, err := n.store.Gaps(ctx, maxGaps)
	if err != nil {
		return positions, err
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, answer.Gap(g))
		if g.Reason == "dropped" {
			out.Log.DroppedBlocks += g.Last - g.First + 1
			out.Log.DroppedSamples += g.Samples
		}
	}
	stats, err := n.store.Stats(ctx)
	if err != nil {
		return positions, err
	}
	for _, d := range stats.Damaged {
		out.Damaged = append(out.Damaged, answer.Damage(d))
	}
	if d := n.catalog.Damage(); d != nil {
		out.Damaged = append(out.Damaged, answer.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	return positions, nil
}

// ownAccount is this node's line of the ledger. Without a store there is no backlog: nothing
// waits for anything.
func (n *Node) ownAccount(p store.Position, s recorder.Stats) answer.Origin {
	if n.store == nil {
		p = store.Position{Sequence: s.Sequence, Samples: s.Acknowledged}
	}
	return account(n.opts.Config.Node.Name, p, s)
}

// account compares what an origin says with what the store has. It balances if every sample is
// somewhere: refused, on its way, waiting in the log, missing or stored.
func account(origin string, p store.Position, s recorder.Stats) answer.Origin {
	backlog := uint64(0)
	if s.Acknowledged > p.Samples {
		backlog = s.Acknowledged - p.Samples
	}
	blocks := uint64(0)
	if s.Sequence > p.Sequence {
		blocks = s.Sequence - p.Sequence
	}
	return answer.Origin{
		Origin: origin, Produced: s.Produced, Acknowledged: s.Acknowledged, Stored: p.Stored,
		Refused: s.Refused, Missing: p.Missing, Repeated: p.Repeated,
		BacklogBlocks: blocks, BacklogSamples: backlog,
		Balanced: s.Produced == s.Acknowledged+s.Refused+s.Pending &&
			(p.Stored == 0 || p.Samples == p.Stored+p.Missing),
	}
}

// Health implements api.Health.
func (n *Node) Health(ctx context.Context) answer.Health {
	h := answer.Health{Status: "ok", Started: n.started}
	part := func(name string, err error) {
		p := answer.Part{Name: name, Status: "ok"}
		if err != nil {
			p.Status, p.Reason = "degraded", err.Error()
			h.Status = "degraded"
		}
		h.Parts = append(h.Parts, p)
	}
	part("recorder", n.recorder.Stats().Paused)
	if n.sink != nil {
		part("store", n.sink.Stats().Err)
	}
	part("history", n.damage(ctx))
	part("audit", n.auditTrouble())
	if n.desk != nil {
		part("control", n.desk.Trouble())
	}
	offline, total := 0, 0
	for _, d := range n.fleet.Devices() {
		total++
		if d.Status == device.Offline || d.Status == device.Hung {
			offline++
		}
	}
	var silent error
	if offline > 0 {
		silent = fmt.Errorf("%d of %d devices do not answer; the device list says why", offline, total)
	}
	part("devices", silent)
	h.Summary = fmt.Sprintf("%d of %d devices answer; %d samples recorded", total-offline, total, n.recorder.Stats().Acknowledged)
	return h
}

// damage says what of the history cannot be read.
func (n *Node) damage(ctx context.Context) error {
	if n.store == nil {
		return nil
	}
	stats, err := n.store.Stats(ctx)
	if err == nil && len(stats.Damaged) > 0 {
		err = fmt.Errorf("%d pieces of the history are damaged and set aside; the ledger names them", len(stats.Damaged))
	}
	return err
}

// Devices implements api.Devices.
func (n *Node) Devices(context.Context) ([]answer.Device, error) {
	states := n.fleet.Devices()
	slices.SortFunc(states, func(a, b device.State) int { return cmp.Compare(a.Path, b.Path) })
	out := make([]answer.Device, len(states))
	for i, s := range states {
		out[i] = answer.Device{
			Path: string(s.Path), Driver: s.Driver, Line: s.Line, State: s.Status.String(),
			Interval: s.Interval.Seconds(), LastError: s.LastError,
			Reads: s.Reads, Failures: s.Failures, Points: s.Points, Reports: s.Reports, Lost: s.Lost, LastErrorTime: moment(s.LastErrorTime),
			LatencyMS: float64(s.Latency) / float64(time.Millisecond),
		}
		if s.LastError != "" {
			out[i].ErrorKind = s.LastErrorKind.String()
		}
		out[i].LastRead = moment(s.LastRead)
	}
	return out, nil
}

// moment returns nil for a time that never was.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
