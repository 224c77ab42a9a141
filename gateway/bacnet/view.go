package bacnet

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/gateway/feed"
	"voltbus/point"
	"voltbus/protocol/bacnet/constructed"
)

// look is the interval of requests for all priority arrays, in addition to the events of control.
const look = 30 * time.Second

// few is up to how many points are asked for one by one.
const few = 20

// views keeps the priority arrays of objects as control has them.
type views struct {
	node    Node
	log     *slog.Logger
	pattern string // of all points that are commanded
	changed chan struct{}

	mu      sync.Mutex
	objects map[point.Path][]*object
	holders map[point.Path][constructed.Priorities]string
	dirty   map[point.Path]bool
}

func newViews(node Node, log *slog.Logger) *views {
	return &views{
		node: node, log: log, changed: make(chan struct{}, 1), objects: map[point.Path][]*object{},
		holders: map[point.Path][constructed.Priorities]string{}, dirty: map[point.Path]bool{},
	}
}

// follow says whose arrays are kept.
func (v *views) follow(list []*object) {
	var paths []point.Path
	for _, o := range list {
		if o.writes {
			v.objects[o.path] = append(v.objects[o.path], o)
			paths = append(paths, o.path)
		}
	}
	v.pattern = feed.Common(paths)
}

// event notes that the array of a point may have changed.
func (v *views) event(e answer.ControlEvent) {
	path := point.Path(e.Path)
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.objects[path]) == 0 {
		return
	}
	v.dirty[path] = true
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// run keeps the arrays until ctx ends.
func (v *views) run(ctx context.Context) {
	if len(v.objects) == 0 {
		return
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	failures := 0
	for all := true; ; {
		switch err := v.catchUp(ctx, all); {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
		default:
			if failures++; failures&(failures-1) == 0 {
				v.log.WarnContext(ctx, "the node does not give the priority arrays", slog.Int("count", failures), slog.Any("err", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			all = true
		case <-v.changed:
			all = false
		}
	}
}

// catchUp asks for the arrays that changed, or for all.
func (v *views) catchUp(ctx context.Context, all bool) error {
	v.mu.Lock()
	paths := make([]point.Path, 0, len(v.dirty))
	for path := range v.dirty {
		paths = append(paths, path)
	}
	clear(v.dirty)
	v.mu.Unlock()
	if all || len(paths) > few {
		return v.ask(ctx, v.pattern)
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := v.ask(ctx, string(path)); err != nil {
			return err
		}
	}
	return nil
}

// refresh asks for the array of an object. Without an answer it stays as it was, until the next one.
func (v *views) refresh(ctx context.Context, o *object) { _ = v.ask(ctx, string(o.path)) }

// ask asks for the arrays of points.
func (v *views) ask(ctx context.Context, pattern string) error {
	for after := ""; ; {
		page, err := v.node.ControlPoints(ctx, pattern, after)
		if err != nil {
			return err
		}
		for i := range page.Points {
			v.take(&page.Points[i])
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// take shows the array of a point.
func (v *views) take(p *answer.ControlPoint) {
	path := point.Path(p.Point)
	var holders [constructed.Priorities]string
	for i := range p.Array {
		if s := &p.Array[i]; s.Level >= 1 && s.Level <= constructed.Priorities {
			holders[s.Level-1] = s.Requester
		}
	}
	v.mu.Lock()
	list := v.objects[path]
	if len(list) > 0 {
		v.holders[path] = holders
	}
	v.mu.Unlock()
	for _, o := range list {
		var array constructed.PriorityArray
		for i := range p.Array {
			s := &p.Array[i]
			if value, ok := o.fromJSON(s.Value); ok && s.Level >= 1 && s.Level <= constructed.Priorities {
				array[s.Level-1] = value
			}
		}
		fallback, ok := o.fromJSON(p.Default)
		if !ok {
			fallback = o.initial()
		}
		o.point.SetCommands(array, fallback)
	}
}

// holder returns who holds a priority of an object, as last seen; "" for nobody.
func (v *views) holder(o *object, priority uint8) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	holders := v.holders[o.path]
	return holders[priority-1]
}
