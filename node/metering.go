package node

import (
	"context"
	"encoding/json"
	"path/filepath"

	"voltbus/api/intake"
	"voltbus/document"
	"voltbus/meter/gate"
	"voltbus/meter/system"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/verdict"
)

// openMetering opens the metering data system, if the node has that role.
func openMetering(ctx context.Context, n *Node) (err error) {
	others := n.recorder.Others()
	last := func(origin string) gate.Position {
		return gate.Position{Sequence: others[origin].Sequence, Samples: others[origin].Samples}
	}
	n.meters, err = system.Open(ctx, system.Config{
		Dir: filepath.Join(n.opts.Config.Node.Data, "metering"), Store: n.opts.Config.MeterStore(), Node: n.opts.Config.Node.Name, Section: n.opts.Config.Metering, Origin: n.origin,
		Last: last(point.MeterOrigin(n.origin)), Events: last(point.MeterEventOrigin(n.origin)), Blocks: n.blocks, Forward: n.recorder.Forward,
		Read: readPoints(n),
		Tell: func(ctx context.Context, e operation.Entry) { n.report.Operation(ctx, e) },
		Document: func(ctx context.Context, name string) (json.RawMessage, int, error) {
			return sharedDocument(ctx, n.docs, name)
		},
		Bounds: n.opts.Config.Ingest.Bounds(), Held: func() map[string]uint64 { return heldAbove(n.sender) }, Now: now, Log: n.log, Valves: n.opts.Valves != nil,
	})
	if shown := n.meters.Statements(); shown != nil {
		n.history.Beside(shown)
	}
	return err
}

// readPoints reads points of the node's devices for the metering system.
func readPoints(n *Node) func(context.Context, []point.Path) []system.Value {
	return func(ctx context.Context, points []point.Path) []system.Value {
		out := make([]system.Value, len(points))
		for i, r := range n.fleet.ReadMany(ctx, points) {
			out[i] = system.Value(r)
		}
		return out
	}
}

// sharedDocument reads a shared document, including those it refers to, and its version.
func sharedDocument(ctx context.Context, docs *document.Store, name string) (json.RawMessage, int, error) {
	key := document.Key{Owner: document.Shared, Name: name}
	d, err := docs.Get(ctx, key, 0)
	if err != nil {
		return nil, 0, err
	}
	text, err := docs.Resolved(ctx, key)
	return text, d.Version, err
}

// meteringFacts reports what is wrong with the metering system.
func meteringFacts(s *system.System) (list []verdict.File) {
	for _, text := range s.Problems() {
		list = append(list, verdict.File{Name: "metering", Sentence: text})
	}
	return list
}

// messagesTo is the web service of a metering system; nil for a node without one.
func messagesTo(s *system.System) intake.Meters {
	if s == nil {
		return nil
	}
	return s.WebService()
}
