package tree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/point"
)

// The rhythm of a tree.
const (
	lookEvery  = time.Second      // who is there
	againEvery = time.Minute      // the parent is told again while it refuses something
	tellTime   = 10 * time.Second // that the parent, or the children, may take to answer
)

// atOnce is how many children are told at once.
const atOnce = 64

// told is what the parent was told last.
type told struct {
	since time.Time // the connection
	body  string
	at    time.Time
	done  bool
}

// Run tells the parent of the nodes below whenever they change, until ctx ends.
func (t *Tree) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if t.down.meet(t.cfg.Children(), t.cfg.Now()) {
			t.save(ctx)
		}
		t.tell(ctx)
		t.spread(ctx)
		select {
		case <-ctx.Done():
			t.save(ctx)
			return nil
		case <-tick.C:
		case <-t.wake:
			t.save(ctx)
		}
	}
}

// tell tells the parent what is new.
func (t *Tree) tell(ctx context.Context) {
	above, is := t.cfg.Parent()
	if !is || !above.Online {
		if !is {
			t.received(&Reception{}, t.news())
		}
		return
	}
	body, err := json.Marshal(t.whole(above.As))
	if err != nil { // names and times are always written
		return
	}
	now := t.cfg.Now()
	if l := &t.told; l.done && l.since.Equal(above.Since) && l.body == string(body) {
		if _, refused := t.Ancestors(); len(refused) == 0 || now.Sub(l.at) < againEvery {
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	t.told = told{since: above.Since, body: string(body), at: now}
	heard := t.news()
	answer, err := t.cfg.Up(ctx, ReportMethod, body)
	var in Reception
	if err == nil {
		err = json.Unmarshal(answer, &in)
	}
	if err != nil {
		if !fault.Is(err, fault.Unreachable) && ctx.Err() == nil {
			t.cfg.Log.WarnContext(ctx, "the parent does not take the names of the nodes below", slog.Any("err", err))
		}
		return
	}
	t.told.done = true
	t.received(&in, heard)
	for _, r := range in.Refused {
		t.cfg.Log.WarnContext(ctx, "the parent does not let a node in", slog.String("node", r.Name), slog.String("why", clipText(r.Why)))
	}
}

// spread tells the children who is above, when that changed. One that is not there hears it when it
// comes and reports.
func (t *Tree) spread(ctx context.Context) {
	t.mu.Lock()
	moved := t.moved
	t.moved = false
	t.mu.Unlock()
	if !moved {
		return
	}
	body, err := json.Marshal(Reception{Above: t.lineage()})
	if err != nil { // names are always written
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	var telling sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, c := range t.cfg.Children() {
		if c.Online {
			telling.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				_, _ = t.cfg.Down(ctx, c.Name, AboveMethod, body) // one that is late must not keep it from the others
			})
		}
	}
	telling.Wait()
}

// whole is the report to the parent, which calls this node as.
func (t *Tree) whole(as string) Report {
	list := []Node{{Name: as, Origins: t.cfg.Origins()}}
	for _, n := range t.down.nodes() {
		if len(n.Path) >= MaxHops-1 || len(list) == MaxNodes {
			continue
		}
		if n.Prefix = t.cfg.Place(n.Prefix); len(n.Prefix) > point.MaxPath {
			n.Prefix = ""
		}
		list = append(list, n)
	}
	return Report{Nodes: list}
}

func (t *Tree) load() {
	if t.cfg.File == "" {
		return
	}
	data, err := os.ReadFile(t.cfg.File)
	if err == nil {
		err = t.down.load(data, t.cfg.Now())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.cfg.Log.Warn("what was known of the nodes below cannot be read; they tell it again", slog.Any("err", err))
	}
}

func (t *Tree) save(ctx context.Context) {
	if t.cfg.File == "" {
		return
	}
	data, err := t.down.save()
	if err == nil {
		err = (atomicfile.Writer{}).Write(t.cfg.File, data, 0o600)
	}
	if err != nil {
		t.cfg.Log.WarnContext(ctx, "who is below this node cannot be kept; after a start it is known when they come", slog.Any("err", err))
	}
}
