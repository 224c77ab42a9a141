package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Bounds of requests to children.
const (
	atOnce    = 64              // children told about ancestors at once
	askAtOnce = 16              // children asked to report at once
	patience  = 4 * time.Second // limit for the reports of all children; half of it for the next level down, and so on
	fresh     = 2 * time.Second // what was asked this recently is not asked again
)

// runChildren tells the children when their ancestors change, asks those of the former version for their
// ledgers, and stores what is known, until ctx ends.
func (r *Reporter) runChildren(ctx context.Context) {
	tick := time.NewTicker(passEvery)
	defer tick.Stop()
	var polled, saved time.Time
	unsaved := false
	for {
		r.table.meet()
		if r.lineage.Changed() {
			r.spread(ctx)
		}
		now := r.cfg.Now()
		if polled.IsZero() || now.Sub(polled) >= ledgerEvery {
			polled = now
			r.ask(ctx, patience, true)
		}
		moved, news := r.table.unsaved()
		if unsaved = unsaved || news; moved || (unsaved && now.Sub(saved) >= saveEvery) {
			saved, unsaved = now, !r.save(ctx)
		}
		select {
		case <-ctx.Done():
			if _, news := r.table.unsaved(); unsaved || news {
				r.save(ctx)
			}
			return
		case <-tick.C:
		}
	}
}

// unsaved reports once whether the set of descendants changed, and whether anything did.
func (t *Table) unsaved() (moved, news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	moved, news = t.forest.moved, t.forest.news
	t.forest.moved, t.forest.news = false, false
	return moved, news
}

// spread tells the children their ancestors. A disconnected one learns them when it reconnects and reports.
func (r *Reporter) spread(ctx context.Context) {
	body, err := json.Marshal(struct {
		Above []string `json:"above"`
	}{r.lineage.Names()})
	if err != nil { // names cannot fail
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var telling sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, c := range r.table.cfg.Children() {
		if c.Online {
			telling.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				_, _ = r.cfg.Down(ctx, c.Name, AboveMethod, body) // a late one must not delay the others
			})
		}
	}
	telling.Wait()
}

// Refresh makes the children report, their descendants first, unless that was just done. Concurrent callers
// wait for the one in progress, within their deadline: known data is better than an answer that comes too
// late.
func (r *Reporter) Refresh(ctx context.Context) { r.ask(ctx, patience, false) }

// Flush answers the parent's request to report at once: body is the time limit in milliseconds.
func (r *Reporter) Flush(ctx context.Context, body []byte) {
	var ms int64
	if err := json.Unmarshal(body, &ms); err != nil || ms < 0 {
		ms = 0
	}
	wait := min(time.Duration(ms)*time.Millisecond, patience)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if wait >= fresh/4 {
		r.ask(ctx, wait/2, false)
	}
	done := make(chan struct{})
	select {
	case r.flushes <- done:
		select {
		case <-done:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
}

// ask makes the connected children, or only those of the former version, report, and waits for them.
func (r *Reporter) ask(ctx context.Context, wait time.Duration, formerOnly bool) {
	end := time.Now().Add(wait)
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-r.turn }()
	modern, silent := r.table.modern()
	if !formerOnly && !silent && !r.asked.IsZero() && r.cfg.Now().Sub(r.asked) < fresh {
		return
	}
	body := fmt.Appendf(nil, "%d", (time.Until(end) / 2).Milliseconds())
	var group errgroup.Group
	group.SetLimit(askAtOnce)
	for _, c := range r.table.cfg.Children() {
		modern := modern[key(c.Name)]
		if !c.Online || (modern && formerOnly) {
			continue
		}
		group.Go(func() error {
			var err error
			if modern {
				_, err = r.cfg.Down(ctx, c.Name, ReportMethod, body)
			} else {
				err = r.askFormer(ctx, c.Name, body)
			}
			if err == nil || !errors.Is(ctx.Err(), context.Canceled) { // the caller's disconnecting says nothing about the child
				r.table.asked(c.Name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // never fails
	if !formerOnly && !errors.Is(ctx.Err(), context.Canceled) {
		r.asked = r.cfg.Now()
	}
}

// modern returns which children report as this package does, by lower-case name, and whether a connected one
// has not reported yet for an unknown reason.
func (t *Table) modern() (modern map[string]bool, silent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	modern = make(map[string]bool, len(t.forest.branches))
	for k, b := range t.forest.branches {
		modern[k] = b.modern
		silent = silent || (b.away.IsZero() && b.why == "" && len(b.child.parts[ledgerPart]) == 0)
	}
	return modern, silent
}

// asked records whether a child answered.
func (t *Table) asked(child string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.forest.branches[key(child)]
	if b == nil {
		return
	}
	if b.why = ""; err != nil {
		b.why = err.Error()
	}
}

// save stores what is known.
func (r *Reporter) save(ctx context.Context) (done bool) {
	if r.cfg.File == nil {
		return true
	}
	if err := r.cfg.File.writeTable(r.table.state()); err != nil {
		r.cfg.Log.WarnContext(ctx, "what is known of the descendants cannot be kept; after a start it is known when they come", slog.Any("err", err))
		return false
	}
	return true
}
