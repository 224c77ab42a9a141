// Package children answers requests of children about their uplink: the greeting, what is on disk here, and the points that they
// describe, within limits.
package children

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"voltbus/bus/dispatch"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/receiver"
	"voltbus/wire"
)

// Options configure Children. All are required.
type Options struct {
	Child    func(name string) (receiver.Child, bool) // what an approved child may do
	Met      func(ctx context.Context, child string) error
	Works    func(caller string) // is called when a child has sent its greeting
	Receiver *receiver.Receiver
	Catalog  *catalog.Catalog
	Most     int                    // maximum points listed below one child
	Refused  func(receiver.Refusal) // is called for descriptions for which there is no room
}

// Children answers children. It is safe for concurrent use.
type Children struct {
	opts Options

	mu      sync.Mutex
	refused map[string]uint64 // by child, descriptions for which there was no room, since the start
}

// New returns a Children.
func New(o Options) *Children { return &Children{opts: o, refused: map[string]uint64{}} }

// Answers reports whether a request is from a child about its uplink.
func Answers(r *dispatch.Request) bool {
	if !strings.HasPrefix(r.From, identity.ChildPrefix) {
		return false
	}
	return r.Method == uplink.HelloMethod || r.Method == uplink.PositionsMethod || r.Method == uplink.DescribeMethod
}

// Answer answers a request of a child about its uplink.
func (c *Children) Answer(ctx context.Context, r *dispatch.Request) []byte {
	result, err := c.serve(ctx, strings.TrimPrefix(r.From, identity.ChildPrefix), r)
	if err != nil {
		return uplink.Refusal(err)
	}
	body, err := json.Marshal(result)
	if err != nil { // numbers and strings cannot fail
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, body)
}

func (c *Children) serve(ctx context.Context, child string, r *dispatch.Request) (any, error) {
	switch r.Method {
	case uplink.HelloMethod:
		var h uplink.Hello
		if err := read(r, &h); err != nil {
			return nil, err
		}
		if err := c.opts.Met(ctx, child); err != nil {
			return nil, err
		}
		w, err := c.opts.Receiver.Hello(child, &h)
		if err == nil {
			c.opts.Works(r.From)
			w.Live = true
		}
		return w, err
	case uplink.PositionsMethod:
		var o uplink.Origins
		if err := read(r, &o); err != nil {
			return nil, err
		}
		return uplink.Positions{Positions: c.opts.Receiver.Positions(o.Origins)}, nil
	default:
		var d uplink.Descriptions
		if err := read(r, &d); err != nil {
			return nil, err
		}
		return struct{}{}, c.describe(ctx, child, d.Points)
	}
}

var errUnreadable = errors.New("cannot be read; is the version of that node's program much newer than this one's?")

func read(r *dispatch.Request, into any) error {
	if err := json.Unmarshal(r.Data, into); err != nil {
		return fault.E("children.Answer", fault.Invalid, r.Method, fmt.Errorf("%w: %w", errUnreadable, err))
	}
	return nil
}

var errManyPoints = fmt.Errorf("describe at most %d points at once", uplink.MaxDescriptions)

// describe adds points to the catalogue as described by their child.
func (c *Children) describe(ctx context.Context, child string, points []uplink.Description) error {
	const op = "children.Answer"
	granted, known := c.opts.Child(child)
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
		if err := granted.Grants.MayRecord(p.Path); err != nil {
			return err
		}
		if p.Removed {
			removed = append(removed, p.Path)
			continue
		}
		kind, _ := point.ParseKind(p.Kind) // an unknown one counts as varying
		infos = append(infos, point.Info{
			Path: p.Path, Kind: kind, Unit: p.Unit, Description: p.Description, Writable: p.Writable,
			Device: p.Device, Interval: p.Interval, Tags: p.Tags,
		})
	}
	refused, err := c.opts.Catalog.Below(ctx, child, infos, removed, catalog.BoundOf(c.opts.Most))
	if err == nil && refused > 0 {
		err = c.refuse(child, refused)
		c.opts.Refused(receiver.Refusal{Child: child, Origin: child, Err: err})
	}
	return err
}

// Know lists the points for which a child sends readings, as far as there is room for them.
func (c *Children) Know(ctx context.Context, child string, paths []point.Path) error {
	most := c.opts.Most
	refused, err := c.opts.Catalog.Name(ctx, child, paths, catalog.BoundOf(most))
	if err == nil && refused > 0 {
		err = fault.E("children.Know", fault.Refused, child, fmt.Errorf(errManyNames, most, catalog.PointBytes))
	}
	return err
}

const errManyNames = "sends readings of more points than are known below one child: ingest.child_points of this node is %d, with texts of " +
	"%d bytes each on average; raise it if these points are right: the readings wait in the child's log until then"

// refuse counts descriptions for which there is no room, and returns the error about them.
func (c *Children) refuse(child string, some int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[child] += uint64(some)
	return fault.E("children.Answer", fault.Refused, child, fmt.Errorf(
		"describes more points than are listed below one child: ingest.child_points of this node is %d, with texts of %d bytes each on average; "+
			"raise it if these points are right", c.opts.Most, catalog.PointBytes))
}

// Crowded describes a lack of room for descriptions of a child; "" if there never was one.
func (c *Children) Crowded(child string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[child] == 0 {
		return ""
	}
	return fmt.Sprintf("describes more points than ingest.child_points lets in: %s refused since the start",
		plural.Of(int(c.refused[child]), "description"))
}
