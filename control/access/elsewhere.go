package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Branch is the path here of another node's points.
type Branch struct {
	Node   string
	Prefix point.Path // "": under the node's own names
}

// places finds the nodes of points that this node does not have. It lists the descendants once per request, and only if a
// point is unknown here: listing thousands of them would cost more than a command.
type places struct {
	below    func() []Branch // nil once they are listed, and if there are none
	branches []Branch
}

func (a *Access) places() *places { return &places{below: a.cfg.Below} }

func (p *places) list() []Branch {
	if p.below != nil {
		p.branches, p.below = p.below(), nil
	}
	return p.branches
}

// explain names the node of a point, instead of err, if err says that this node does not have the point. The longest
// matching prefix of a node counts.
func (p *places) explain(who *Who, path point.Path, err error) error {
	if err == nil || !fault.Is(err, fault.NotFound) || who.See(path) != nil {
		return err
	}
	best := Branch{}
	for _, b := range p.list() {
		if b.Prefix != "" && (path == b.Prefix || strings.HasPrefix(string(path), string(b.Prefix)+"/")) && len(b.Prefix) > len(best.Prefix) {
			best = b
		}
	}
	there := strings.TrimPrefix(strings.TrimPrefix(string(path), string(best.Prefix)), "/")
	switch {
	case best.Node == "":
		return p.hint(who, err)
	case there == "":
		return fault.E("access", fault.NotFound, clip(string(path)), fmt.Errorf(
			"it is where the points of node %s lie; ask that node with --node %s and a path there", best.Node, best.Node))
	}
	return fault.E("access", fault.NotFound, clip(string(path)), fmt.Errorf(
		"the points below %s are those of node %s; ask it with --node %s %s, or with the same path if the node has its devices below %s itself",
		best.Prefix, best.Node, best.Node, clip(there), best.Prefix))
}

// maxNamed bounds the nodes that a hint names.
const maxNamed = 3

// hint adds to err, for people, the descendants that may have what this node does not.
func (p *places) hint(who *Who, err error) error {
	e, is := errors.AsType[*fault.Error](err)
	if !is || e.Err == nil || len(p.list()) == 0 || !strings.HasPrefix(who.Name, "person:") {
		return err
	}
	var names []string
	for _, b := range p.branches[:min(len(p.branches), maxNamed)] {
		names = append(names, b.Node)
	}
	more := ""
	if n := len(p.branches) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fault.E(e.Op, e.Kind, e.Subject, fmt.Errorf(
		"%w; if it is of a descendant (%s%s), ask that: --node %s, with the path as that node has it", e.Err, strings.Join(names, ", "), more, names[0]))
}

// explainUnknown does the same for a request that the dispatcher refused because it does not know the point.
func (p *places) explainUnknown(who *Who, path point.Path, d *control.Decision) {
	if d.Why != control.WhyUnknown || d.Err == nil || path == "" {
		return
	}
	if better, is := errors.AsType[*fault.Error](p.explain(who, path, d.Err)); is {
		d.Err = better
	}
}

// explainBranch does the same for a path at and below which this node has no point.
func (a *Access) explainBranch(ctx context.Context, who *Who, path point.Path, d *control.Decision) {
	if d.Why == control.WhyUnknown && path != "" && a.cfg.Dispatcher.Covers(ctx, point.Pattern(path)) != nil {
		a.places().explainUnknown(who, path, d)
	}
}
