package bacnet

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/gateway/feed"
	"voltbus/point"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// choice is a point that is served.
type choice struct {
	Point

	known *answer.Point // what the node knows of it; nil if it does not have the point
	logs  bool          // it has a trend log with an instance of the gateway's choice, unless it is a text
}

// choose returns the points to serve: those that the mapping lists, and those that its patterns select.
func (g *Gateway) choose(ctx context.Context) ([]choice, error) {
	known, err := g.describe(ctx)
	if err != nil {
		return nil, err
	}
	served := make([]choice, 0, len(g.mapping.Points))
	names := map[string]bool{}
	for i := range g.mapping.Points {
		p := g.mapping.Points[i]
		served = append(served, choice{Point: p, known: known[p.Point]})
		names[p.Point], names[p.name()] = true, true
	}
	for i := range g.mapping.Patterns {
		p := &g.mapping.Patterns[i]
		err := g.each(ctx, p.Pattern, func(a *answer.Point) {
			if kind, _ := point.ParseKind(a.Kind); names[a.Path] || kind == point.None { // without a value it has no type yet
				return
			}
			names[a.Path] = true
			served = append(served, choice{Point: Point{Point: a.Path, Increment: p.Increment, ReadOnly: p.ReadOnly}, known: a, logs: p.TrendLogs})
		})
		if err != nil {
			return nil, err
		}
	}
	return served, nil
}

// lookFor is the interval in which the gateway looks for points that are not served yet.
const lookFor = 5 * time.Minute

// watchPatterns reports points that patterns select and that are not served, as they came after the start, until ctx ends.
func (g *Gateway) watchPatterns(ctx context.Context) {
	if len(g.mapping.Patterns) == 0 {
		return
	}
	ticker := time.NewTicker(lookFor)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, err := g.choose(ctx)
		if err != nil {
			continue // the feed reports a node that does not answer
		}
		missing := 0
		for i := range now {
			if len(g.byPath[point.Path(now[i].Point.Point)]) == 0 {
				missing++
			}
		}
		if before := g.unserved.Swap(int64(missing)); int64(missing) > before {
			g.log.WarnContext(ctx, "the node has points that the patterns select and that are not served; start the gateway anew", slog.Int("count", missing))
		}
	}
}

// describe returns what the node knows of the points that the mapping lists.
func (g *Gateway) describe(ctx context.Context) (map[string]*answer.Point, error) {
	known := make(map[string]*answer.Point, len(g.mapping.Points))
	paths := make([]point.Path, 0, len(g.mapping.Points))
	for i := range g.mapping.Points {
		paths = append(paths, point.Path(g.mapping.Points[i].Point))
		known[g.mapping.Points[i].Point] = nil
	}
	if len(paths) == 0 {
		return known, nil
	}
	return known, g.each(ctx, feed.Common(paths), func(a *answer.Point) {
		if _, wanted := known[a.Path]; wanted {
			known[a.Path] = a
		}
	})
}

// each calls do with every point of the node that matches a pattern, in path order.
func (g *Gateway) each(ctx context.Context, pattern string, do func(*answer.Point)) error {
	filter := client.Filter{Pattern: pattern, Limit: 1000}
	for {
		page, err := g.node.Points(ctx, filter)
		if err != nil {
			return fmt.Errorf("ask for the points that match %q: %w", pattern, err)
		}
		for i := range page.Points {
			do(&page.Points[i])
		}
		if filter.After = page.Next; filter.After == "" {
			return nil
		}
	}
}

// claim notes the instances that the mapping gives, before any is chosen.
func (g *Gateway) claim(served []choice) error {
	for i := range served {
		c := &served[i]
		kind, err := g.kind(c)
		if err != nil {
			return err
		}
		if c.Instance != nil {
			err = g.instances.claim(encoding.ObjectID{Type: kind.object, Instance: uint32(*c.Instance)}, c.Point.Point)
		}
		if err == nil && c.TrendLog != nil {
			err = g.instances.claim(encoding.ObjectID{Type: enum.TrendLog, Instance: uint32(*c.TrendLog)}, c.Point.Point)
		}
		if err != nil {
			return fault.E("gateway.New", fault.Conflict, c.Point.Point, err)
		}
	}
	return nil
}

// identify returns the object of a point.
func (g *Gateway) identify(c *choice, kind enum.ObjectType, given *int) (encoding.ObjectID, error) {
	if given != nil {
		return encoding.ObjectID{Type: kind, Instance: uint32(*given)}, nil
	}
	return g.instances.give(kind, c.Point.Point)
}

// kind returns the type of the object of a point.
func (g *Gateway) kind(c *choice) (objectKind, error) {
	kind := point.None
	if c.known != nil {
		kind, _ = point.ParseKind(c.known.Kind)
	} else if c.Type == "" {
		return objectKind{}, fault.E("gateway.New", fault.NotFound, c.Point.Point, errUnknownType)
	}
	return kindOf(&c.Point, kind, g.writable(c)), nil
}

// writable reports whether a point may be commanded, if the type of its object allows it.
func (g *Gateway) writable(c *choice) bool {
	return len(g.mapping.Writers) > 0 && !c.ReadOnly && (c.known == nil || c.known.Writable)
}
