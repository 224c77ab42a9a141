// Package head records where audit logs end: this node's own, which the catalogue keeps in addition to the log, and those of its
// children, which each child signs and gets back from its parent. This reveals a log that was deleted, truncated or exchanged although
// its own files are consistent.
package head

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/audit"
	"voltbus/catalog"
)

// Catalog keeps the ends of audit logs. Package catalog implements it.
type Catalog interface {
	AuditHeads(ctx context.Context) ([]catalog.AuditHead, error)
	KeepAuditHeads(ctx context.Context, list []catalog.AuditHead) error
}

// Options are what Heads need. All are required.
type Options struct {
	Audit   *audit.Log
	Catalog Catalog
	// Origin is the origin of the data directory; "" if no node has run in it.
	Origin string
	// ReadOnly stores nothing: the node was opened only to inspect its data.
	ReadOnly bool
	// Sign signs with the node's key. Its signatures are deterministic.
	Sign func(data []byte) ([]byte, error)
	// Joined returns when a child joined; false for an unknown one.
	Joined func(child string) (time.Time, bool)
	// Report records a finding in the audit log; subject is "" for this node.
	Report func(ctx context.Context, action, subject string, err error)
	Log    *slog.Logger
}

// Heads keeps the ends of audit logs. It is safe for concurrent use.
type Heads struct {
	opts Options

	mu    sync.Mutex
	known map[string]catalog.AuditHead // by child, "" for this node
	dirty map[string]bool              // changed since the catalogue was updated
	back  map[string]string            // children whose log has gone back, with the sentence about it
}

// every is the interval at which the catalogue is updated.
const every = 10 * time.Second

const (
	inCatalogue = "the catalogue"
	atParent    = "the parent"
)

// Open compares the audit log with what the catalogue knows about it.
func Open(ctx context.Context, o Options) (*Heads, error) {
	h := &Heads{opts: o, known: map[string]catalog.AuditHead{}, dirty: map[string]bool{}, back: map[string]string{}}
	list, err := o.Catalog.AuditHeads(ctx)
	if err != nil {
		return nil, err
	}
	for _, kept := range list {
		h.known[kept.Node] = kept
	}
	own, is := h.known[""]
	if !is {
		if o.Origin != "" {
			o.Audit.Missing("this node ran before, as its origin " + o.Origin + " says, and then it had one")
		}
		return h, nil
	}
	end, err := audit.ParseHead(own.Head)
	if err != nil {
		o.Log.WarnContext(ctx, "the catalogue does not know where the audit log ended", slog.Any("err", err))
		return h, nil
	}
	_, err = o.Audit.Expect(ctx, end, inCatalogue)
	return h, err
}

// Run updates the catalogue every few seconds with the ends of the audit logs, until ctx ends.
func (h *Heads) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := h.Keep(ctx); err != nil && ctx.Err() == nil {
			h.opts.Log.WarnContext(ctx, "where the audit log ends is not kept in the catalogue", slog.Any("err", err))
		}
	}
}

// Keep writes changes to the catalogue.
func (h *Heads) Keep(ctx context.Context) error {
	if h.opts.ReadOnly {
		return nil
	}
	list := h.changed()
	if len(list) == 0 {
		return nil
	}
	err := h.opts.Catalog.KeepAuditHeads(ctx, list)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		for i := range list {
			h.dirty[list[i].Node] = true
		}
	}
	return err
}

// changed returns what has not yet been written to the catalogue.
func (h *Heads) changed() []catalog.AuditHead {
	h.mu.Lock()
	defer h.mu.Unlock()
	if end := h.opts.Audit.Status().Head; end.Seq > 0 && h.known[""].Head != end.String() {
		h.known[""] = catalog.AuditHead{Head: end.String()}
		h.dirty[""] = true
	}
	var list []catalog.AuditHead
	for node := range h.dirty {
		list = append(list, h.known[node])
	}
	clear(h.dirty)
	return list
}

// Trouble returns what is damaged in the audit log, why it cannot be written, or whose log has gone back; nil if nothing is wrong.
func (h *Heads) Trouble() error {
	s := h.opts.Audit.Status()
	switch {
	case s.Err != nil:
		return s.Err
	case s.Damage != "":
		return errors.New("the audit log is damaged: " + s.Damage + "; voltbus audit verify says more")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, what := range h.back {
		return errors.New(what)
	}
	return nil
}

// FromParent compares the audit log with what, according to the parent, this node reported. Anything without this
// node's signature is ignored: a parent cannot invent it.
func (h *Heads) FromParent(ctx context.Context, text string) {
	end, sig, err := split(text)
	if err != nil || !h.signed(end, sig) {
		h.opts.Log.DebugContext(ctx, "the parent knows an end of the audit log that this node's key did not sign")
		return
	}
	damage, err := h.opts.Audit.Expect(ctx, end, atParent)
	if err != nil {
		h.opts.Log.WarnContext(ctx, "audit log cannot be compared with what the parent knows of it", slog.Any("err", err))
	}
	if damage != "" {
		h.opts.Log.WarnContext(ctx, "audit log is not the one that the parent knows", slog.String("damage", damage))
		h.opts.Report(ctx, "audit.compared", "", errors.New(damage)) // begins the new segment at once
	}
}

// OfChild returns what a child last reported about its audit log, "" if unknown.
func (h *Heads) OfChild(child string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept, is := h.known[strings.ToLower(child)]
	if joined, known := h.opts.Joined(child); !is || !known || joined.UnixMicro() != kept.Joined.UnixMicro() {
		return ""
	}
	return kept.Head
}

// Receive records where a child's audit log ends, as the child reports it. A log that went back is reported, and the
// earlier record stays until the child has caught up.
func (h *Heads) Receive(ctx context.Context, child, before, text string) {
	end, _, err := split(text)
	if err != nil || text == before {
		return
	}
	joined, known := h.opts.Joined(child)
	if !known {
		return
	}
	kept, _, err := split(before)
	folded := strings.ToLower(child)
	h.mu.Lock()
	_, reported := h.back[folded]
	went := err == nil && end.Seq <= kept.Seq
	if went {
		h.back[folded] = fmt.Sprintf("the audit log of %s ends at entry %d, and it told of entries up to %d", child, end.Seq, kept.Seq)
	} else {
		h.known[folded] = catalog.AuditHead{Node: folded, Joined: joined, Head: text}
		h.dirty[folded] = true
		delete(h.back, folded)
	}
	what := h.back[folded]
	h.mu.Unlock()
	if went && !reported {
		h.opts.Log.WarnContext(ctx, "the audit log of a child was deleted, cut or exchanged", slog.String("child", child), slog.String("reason", what))
		h.opts.Report(ctx, "child.audit", child, errors.New(what+": it was deleted, cut or exchanged"))
	}
}
