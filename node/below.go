package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/receiver"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

// originsFile remembers by which child the blocks of an origin come.
const originsFile = "origins.json"

// outagesFile remembers when children were away, and what became of what they recorded meanwhile.
const outagesFile = "outages.json"

// openReceiver lets children send their blocks.
func (n *Node) openReceiver(context.Context) error {
	n.neighbours = neighbour.New(neighbour.Options{
		Children: n.children, Parent: n.parent, Bus: n.bus,
		Link:    func() (sender.State, time.Time) { return n.sender.State() },
		Allowed: func() (identity.Grants, error) { return allowed(&n.Config().Uplink) },
		Version: func(child string) string {
			seen, _ := n.book.Look(child, child)
			return seen.Version
		},
	})
	n.receiver = receiver.New(receiver.Config{
		Name: n.opts.Config.Node.Name, Child: n.neighbours.Child, Own: n.isOwn, Know: n.knowBelow, Meter: n.meterFits, Refused: n.report.Blocks,
		File: filepath.Join(n.opts.Config.Node.Data, originsFile), Store: n.history.Name, Log: n.log,
		Outages: filepath.Join(n.opts.Config.Node.Data, outagesFile),
	}, n.recorder, uplinkPositions(n.recorder.Others()))
	return n.bus.ReceiveBlocks(func(a bus.Arrival) { //nolint:contextcheck // the receiver has that of its Run
		n.receiver.Receive(a.Child, uplink.Lane(a.Lane), a.Data, func(answer uplink.Answer) { a.Answer(answer.Encode()) })
	})
}

// isOwn reports whether an origin is one of this node's own.
func (n *Node) isOwn(origin string) bool {
	for _, s := range n.recorder.Lanes() {
		if s.Origin == origin || point.UrgentOrigin(s.Origin) == origin || point.MeterOrigin(s.Origin) == origin {
			return true
		}
	}
	return false
}

// meterFits judges readings of meters that a child sends.
func (n *Node) meterFits(b *point.Block, from func(origin string) bool) error {
	return n.meters.Fits(b, from)
}

// answersBelow reports whether a request is one of a child about its uplink.
func answersBelow(r *dispatch.Request) bool {
	if !strings.HasPrefix(r.From, identity.ChildPrefix) {
		return false
	}
	return r.Method == uplink.HelloMethod || r.Method == uplink.PositionsMethod || r.Method == uplink.DescribeMethod
}

// answerBelow answers a request of a child about its uplink.
func (n *Node) answerBelow(ctx context.Context, r *dispatch.Request) []byte {
	result, err := n.serveBelow(ctx, strings.TrimPrefix(r.From, identity.ChildPrefix), r)
	if err != nil {
		return refusal(err)
	}
	body, err := json.Marshal(result)
	if err != nil { // numbers and texts are always written
		return refusal(err)
	}
	return wire.AppendResult(nil, body)
}

func (n *Node) serveBelow(ctx context.Context, child string, r *dispatch.Request) (any, error) {
	switch r.Method {
	case uplink.HelloMethod:
		var h uplink.Hello
		if err := readBelow(r, &h); err != nil {
			return nil, err
		}
		if err := n.children.Met(ctx, child); err != nil {
			return nil, err
		}
		w, err := n.receiver.Hello(child, &h)
		if err == nil {
			n.bus.Works(r.From)
			w.Live = true
		}
		return w, err
	case uplink.PositionsMethod:
		var o uplink.Origins
		if err := readBelow(r, &o); err != nil {
			return nil, err
		}
		return uplink.Positions{Positions: n.receiver.Positions(o.Origins)}, nil
	default:
		var d uplink.Descriptions
		if err := readBelow(r, &d); err != nil {
			return nil, err
		}
		return struct{}{}, n.describedBelow(ctx, child, d.Points)
	}
}

var errBelow = errors.New("cannot be read; is the version of that node's program much newer than this one's?")

func readBelow(r *dispatch.Request, into any) error {
	if err := json.Unmarshal(r.Data, into); err != nil {
		return fault.E("node.answerBelow", fault.Invalid, r.Method, fmt.Errorf("%w: %w", errBelow, err))
	}
	return nil
}

var errManyPoints = fmt.Errorf("describe at most %d points at once", uplink.MaxDescriptions)

// describedBelow puts points as their child describes them into the catalogue.
func (n *Node) describedBelow(ctx context.Context, child string, points []uplink.Description) error {
	const op = "node.describedBelow"
	c, known := n.neighbours.Child(child)
	if !known {
		return fault.E(op, fault.Refused, child, neighbour.ErrNoChild)
	}
	if len(points) > uplink.MaxDescriptions {
		return fault.E(op, fault.Invalid, child, errManyPoints)
	}
	var infos []point.Info
	var removed []point.Path
	for i := range points {
		p := &points[i]
		if err := c.Grants.MayRecord(p.Path); err != nil {
			return err
		}
		if p.Removed {
			removed = append(removed, p.Path)
			continue
		}
		kind, _ := point.ParseKind(p.Kind) // one that is not known here varies
		infos = append(infos, point.Info{
			Path: p.Path, Kind: kind, Unit: p.Unit, Description: p.Description, Writable: p.Writable,
			Device: p.Device, Interval: p.Interval, Tags: p.Tags,
		})
	}
	refused, err := n.catalog.Below(ctx, child, infos, removed, catalog.BoundOf(n.opts.Config.Ingest.ChildPoints))
	if err == nil && refused > 0 {
		err = n.crowded.refuse(child, refused, n.opts.Config.Ingest.ChildPoints)
		n.report.Descriptions(receiver.Refusal{Child: child, Origin: child, Err: err})
	}
	return err
}

// knowBelow has the points known of which a child sends readings, as far as there is room for them.
func (n *Node) knowBelow(ctx context.Context, child string, paths []point.Path) error {
	most := n.opts.Config.Ingest.ChildPoints
	refused, err := n.catalog.Name(ctx, child, paths, catalog.BoundOf(most))
	if err == nil && refused > 0 {
		err = fault.E("node.knowBelow", fault.Refused, child, fmt.Errorf(errManyNames, most, catalog.PointBytes))
	}
	return err
}

const errManyNames = "sends readings of more points than are known below one child: ingest.child_points of this node is %d, with texts of " +
	"%d octets each on average; raise it if these points are right: the readings wait in the child's log until then"

// Below returns what came from each child since the start.
func (n *Node) Below() map[string]receiver.Counts { return n.receiver.Status() }
