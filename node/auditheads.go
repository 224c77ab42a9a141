package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/audit"
	"voltbus/catalog"
	"voltbus/internal/datadir"
)

// heads knows where audit logs ended: this node's own, which the catalogue keeps beside the log, and those of its
// children, which each child signs and gets back from its parent. So a log that was deleted, cut or exchanged
// shows although its own files fit together.
type heads struct {
	mu    sync.Mutex
	known map[string]catalog.AuditHead // by child, "" for this node
	dirty map[string]bool              // since the catalogue was told
	back  map[string]string            // children whose log ends before where it did, with the sentence that says so
}

// headsEvery is how often the catalogue is told.
const headsEvery = 10 * time.Second

const (
	inCatalogue = "the catalogue"
	nodeAbove   = "the node above"
)

// openHeads compares the audit log with what the catalogue knows of it.
func (n *Node) openHeads(ctx context.Context) error {
	n.heads = &heads{known: map[string]catalog.AuditHead{}, dirty: map[string]bool{}, back: map[string]string{}}
	list, err := n.catalog.AuditHeads(ctx)
	if err != nil {
		return err
	}
	for _, h := range list {
		n.heads.known[h.Node] = h
	}
	own, is := n.heads.known[""]
	if !is {
		if origin, err := datadir.Origin(n.opts.Config.Node.Data); err == nil && origin != "" {
			n.audit.Missing("this node ran before, as its origin " + origin + " says, and then it had one")
		}
		return nil
	}
	head, err := audit.ParseHead(own.Head)
	if err != nil {
		n.log.WarnContext(ctx, "the catalogue does not know where the audit log ended", slog.Any("err", err))
		return nil
	}
	_, err = n.audit.Expect(ctx, head, inCatalogue)
	return err
}

// keepHeads tells the catalogue every few seconds where the audit logs end.
func (n *Node) keepHeads(ctx context.Context) error {
	tick := time.NewTicker(headsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := n.keepHeadsNow(ctx); err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "where the audit log ends is not kept in the catalogue", slog.Any("err", err))
		}
	}
}

// keepHeadsNow tells the catalogue what changed.
func (n *Node) keepHeadsNow(ctx context.Context) error {
	if n.opts.Idle || n.heads == nil {
		return nil
	}
	h := n.heads
	h.mu.Lock()
	if head := n.audit.Status().Head; head.Seq > 0 && h.known[""].Head != head.String() {
		h.known[""] = catalog.AuditHead{Head: head.String()}
		h.dirty[""] = true
	}
	var list []catalog.AuditHead
	for node := range h.dirty {
		list = append(list, h.known[node])
	}
	clear(h.dirty)
	h.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	err := n.catalog.KeepAuditHeads(ctx, list)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		for i := range list {
			h.dirty[list[i].Node] = true
		}
	}
	return err
}

// headText is what this node tells its parent of where its audit log ends: the head, and the node's signature.
func (n *Node) headText() string {
	head := n.audit.Status().Head
	if head.Seq == 0 {
		return ""
	}
	sig, err := n.identity.Node.Sign(signedHead(head.String()))
	if err != nil {
		return ""
	}
	return head.String() + ":" + base64.RawURLEncoding.EncodeToString(sig)
}

func signedHead(head string) []byte { return []byte("voltbus audit head " + head) }

var errHead = errors.New("is not where an audit log ended, with a signature")

// splitHead reads what headText wrote.
func splitHead(text string) (head audit.Head, sig []byte, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return head, nil, errHead
	}
	if head, err = audit.ParseHead(text[:at]); err != nil {
		return head, nil, err
	}
	sig, err = base64.RawURLEncoding.DecodeString(text[at+1:])
	return head, sig, err
}

// headFromAbove compares the audit log with what the parent says that this node told it. What this node did not
// sign says nothing: a parent cannot invent it.
func (n *Node) headFromAbove(ctx context.Context, text string) {
	head, sig, err := splitHead(text)
	if err != nil || !n.signed(head, sig) {
		n.log.DebugContext(ctx, "the parent knows an end of the audit log that this node's key did not sign")
		return
	}
	damage, err := n.audit.Expect(ctx, head, nodeAbove)
	if err != nil {
		n.log.WarnContext(ctx, "audit log cannot be compared with what the node above knows of it", slog.Any("err", err))
	}
	if damage != "" {
		n.log.WarnContext(ctx, "audit log is not the one that the node above knows", slog.String("damage", damage))
		n.tell(ctx, n.deed("audit.compared", errors.New(damage), nil)) // begins the new segment now
	}
}

// signed reports whether this node signed the head. Its signatures are the same each time.
func (n *Node) signed(head audit.Head, sig []byte) bool {
	own, err := n.identity.Node.Sign(signedHead(head.String()))
	return err == nil && slices.Equal(own, sig)
}

// headOfChild returns what a child told of its audit log before, "" if nothing is known.
func (n *Node) headOfChild(child string) string {
	n.heads.mu.Lock()
	defer n.heads.mu.Unlock()
	h, is := n.heads.known[strings.ToLower(child)]
	if c, err := n.children.Child(child); !is || err != nil || c.Joined.UnixMicro() != h.Joined.UnixMicro() {
		return ""
	}
	return h.Head
}

// hearHead takes where a child says that its audit log ends. One that went back is told, and what was known of it
// stays until the child has caught up.
func (n *Node) hearHead(ctx context.Context, child, before, text string) {
	head, _, err := splitHead(text)
	if err != nil || text == before {
		return
	}
	c, err := n.children.Child(child)
	if err != nil {
		return
	}
	kept, _, err := splitHead(before)
	folded := strings.ToLower(child)
	h := n.heads
	h.mu.Lock()
	_, known := h.back[folded]
	went := err == nil && head.Seq <= kept.Seq
	if went {
		h.back[folded] = fmt.Sprintf("the audit log of %s ends at entry %d, and it told of entries up to %d", child, head.Seq, kept.Seq)
	} else {
		h.known[folded] = catalog.AuditHead{Node: folded, Joined: c.Joined, Head: text}
		h.dirty[folded] = true
		delete(h.back, folded)
	}
	what := h.back[folded]
	h.mu.Unlock()
	if went && !known {
		n.log.WarnContext(ctx, "the audit log of a child was deleted, cut or exchanged", slog.String("child", child), slog.String("reason", what))
		e := n.deed("child.audit", errors.New(what+": it was deleted, cut or exchanged"), nil)
		e.Subject = child
		n.tell(ctx, e)
	}
}

// trouble says whose log ends before where it did, nil for nobody's.
func (h *heads) trouble() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, what := range h.back {
		return errors.New(what)
	}
	return nil
}
