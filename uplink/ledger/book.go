// Package ledger knows the accounts of all nodes below this one: for each origin, at each node on its
// way, what was produced, stored, left out and lost. Children are asked for theirs and those below them;
// what one said last is kept for when it is away.
package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Method is what a parent asks its child: the accounts of itself and all below it, a list of
// answer.LedgerNode.
const Method = "tree.ledger"

// Bounds of the ledger of a subtree.
const (
	every    = 30 * time.Second // children are asked, whether somebody looks or not
	fresh    = 2 * time.Second  // what they said is not asked for again
	patience = 4 * time.Second  // for the answers of all children; half of it for those one step further down, and so on
	asked    = 16               // at once
	maxGaps  = 100              // of a node
	maxLines = 10_000           // of a node
)

// Config is what a Book needs.
type Config struct {
	Name   string
	Own    func(ctx context.Context) (answer.Ledger, error) // of this node alone
	Stores bool                                             // this node has a store
	// Above returns how many samples of each origin the parent has; nil without a parent.
	Above func() map[string]uint64
	// Below lists the nodes below, as package tree does.
	Below func() []tree.Node
	// Ask has a child answer Method with its patience in milliseconds as the body.
	Ask  func(ctx context.Context, child string, body []byte) ([]byte, error)
	File string // where is kept what children said; "" for nowhere
	Log  *slog.Logger
	Now  func() time.Time
}

// said is what a child said.
type said struct {
	At    time.Time           `json:"at"`
	Nodes []answer.LedgerNode `json:"nodes"` // paths begin with the child
	why   string              // it said nothing at the last time it was asked
}

// Book is safe for concurrent use.
type Book struct {
	cfg     Config
	turn    chan struct{} // holds one while children are asked: one round at a time
	mu      sync.Mutex
	last    time.Time
	news    bool             // that the file does not hold
	byChild map[string]*said // by name in lower case
}

// New returns a book with what the file holds. It starts nothing.
func New(cfg Config) *Book {
	b := &Book{cfg: cfg, byChild: map[string]*said{}, turn: make(chan struct{}, 1)}
	if cfg.File == "" {
		return b
	}
	data, err := os.ReadFile(cfg.File)
	if err == nil {
		b.byChild, err = parse(data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		cfg.Log.Warn("what nodes below said of their ledgers cannot be read; they are asked again", slog.Any("err", err))
	}
	for name, s := range b.byChild {
		if s == nil || len(s.Nodes) == 0 {
			delete(b.byChild, name)
		}
	}
	return b
}

func parse(content []byte) (map[string]*said, error) {
	kept := map[string]*said{}
	if err := json.Unmarshal(content, &kept); err != nil || kept == nil {
		return map[string]*said{}, errors.Join(err, errNoBook)
	}
	return kept, nil
}

var errNoBook = errors.New("does not hold what nodes below said of their ledgers")

// Check returns what is wrong with the content of the file of a book.
func Check(content []byte) error {
	_, err := parse(content)
	return err
}

// Run asks the children from time to time, so that something is known of those that are away, until ctx
// ends.
func (b *Book) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		b.gather(ctx, patience)
		b.save(ctx)
		select {
		case <-ctx.Done():
			b.save(ctx)
			return nil
		case <-tick.C:
		}
	}
}

func (b *Book) save(ctx context.Context) {
	if b.cfg.File == "" {
		return
	}
	b.mu.Lock()
	news := b.news
	b.news = false
	data, err := json.Marshal(b.byChild)
	b.mu.Unlock()
	if !news {
		return
	}
	if err == nil {
		err = atomicfile.Writer{}.Write(b.cfg.File, data, 0o600)
	}
	if err != nil {
		b.mu.Lock()
		b.news = true
		b.mu.Unlock()
		b.cfg.Log.WarnContext(ctx, "what nodes below said of their ledgers cannot be kept", slog.Any("err", err))
	}
}

// gather asks the children that are connected, unless that was just done. Who asks while others do waits for them, and
// not longer than it has time: what is known is better than an answer that comes too late.
func (b *Book) gather(ctx context.Context, wait time.Duration) {
	end := time.Now().Add(wait)
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-b.turn }()
	if b.recent() {
		return
	}
	wait = time.Until(end)
	body := fmt.Appendf(nil, "%d", (wait / 2).Milliseconds())
	var group errgroup.Group
	group.SetLimit(asked)
	for _, n := range b.cfg.Below() {
		if len(n.Path) != 1 || !n.Away.IsZero() {
			continue
		}
		group.Go(func() error {
			nodes, err := b.ask(ctx, n.Name, body)
			if err != nil && errors.Is(ctx.Err(), context.Canceled) {
				return nil // who asked has left, which says nothing of the child
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			s := b.byChild[strings.ToLower(n.Name)]
			switch {
			case err == nil:
				b.news = true
				b.byChild[strings.ToLower(n.Name)] = &said{At: b.cfg.Now().UTC(), Nodes: nodes}
			case s != nil:
				s.why = err.Error()
			default:
				b.byChild[strings.ToLower(n.Name)] = &said{why: err.Error()}
			}
			return nil
		})
	}
	_ = group.Wait() // nobody fails
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	b.mu.Lock()
	b.last = b.cfg.Now()
	b.mu.Unlock()
}

// recent reports whether all that are connected were asked a moment ago.
func (b *Book) recent() bool {
	below := b.cfg.Below()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last.IsZero() || b.cfg.Now().Sub(b.last) >= fresh {
		return false
	}
	return !slices.ContainsFunc(below, func(n tree.Node) bool {
		return len(n.Path) == 1 && n.Away.IsZero() && b.byChild[strings.ToLower(n.Name)] == nil
	})
}

var errLedger = errors.New("says of its ledger what cannot be read; is its version much newer?")

func (b *Book) ask(ctx context.Context, child string, body []byte) ([]answer.LedgerNode, error) {
	data, err := b.cfg.Ask(ctx, child, body)
	if err != nil {
		return nil, err
	}
	if err := wire.Readable(child, data); err != nil {
		return nil, fault.E("ledger.ask", fault.Corrupt, child, err)
	}
	var nodes []answer.LedgerNode
	if err := json.Unmarshal(data, &nodes); err != nil || len(nodes) == 0 || len(nodes) > tree.MaxNodes {
		return nil, fault.E("ledger.ask", fault.Corrupt, child, errLedger)
	}
	for i := range nodes {
		n := &nodes[i]
		n.Path = append([]string{child}, n.Path...)
		if i == 0 {
			n.Node = child
		}
		if len(n.Path) > tree.MaxHops || len(n.Origins) > maxLines || n.Node == "" {
			return nil, fault.E("ledger.ask", fault.Corrupt, child, errLedger)
		}
	}
	return nodes, nil
}

// Answer answers Method: the accounts of this node and of all below it.
func (b *Book) Answer(ctx context.Context, body []byte) ([]byte, error) {
	var ms int64
	if err := json.Unmarshal(body, &ms); err != nil || ms < 0 {
		ms = 0
	}
	own, err := b.cfg.Own(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(b.nodes(ctx, &own, min(time.Duration(ms)*time.Millisecond, patience)))
}

// Complete puts the accounts of the subtree into a ledger of this node: Nodes, Sum and Sentence. Without
// all they are of this node alone.
func (b *Book) Complete(ctx context.Context, own *answer.Ledger, all bool) {
	if own.Nodes = []answer.LedgerNode{b.here(own)}; all {
		own.Nodes = b.nodes(ctx, own, patience)
	}
	own.Sum = sum(own.Nodes)
	own.Sentence = sentence(own.Nodes, &own.Sum)
}

// nodes lists the accounts, this node's first.
func (b *Book) nodes(ctx context.Context, own *answer.Ledger, wait time.Duration) []answer.LedgerNode {
	if wait >= fresh/4 {
		b.gather(ctx, wait)
	}
	list := []answer.LedgerNode{b.here(own)}
	below := b.cfg.Below()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range below {
		list = append(list, b.account(&below[i]))
	}
	return list
}

// here is the account of this node.
func (b *Book) here(own *answer.Ledger) answer.LedgerNode {
	n := answer.LedgerNode{
		Node: b.cfg.Name, Path: []string{}, State: "here", AsOf: b.cfg.Now().UTC(), Ledger: own.State, Reason: own.Reason, Stores: b.cfg.Stores,
		Origins: make([]answer.Hop, len(own.Origins)), Gaps: slices.Clone(own.Gaps[:min(len(own.Gaps), maxGaps)]),
		Overwritten: own.Overwritten,
	}
	above := b.cfg.Above()
	for i := range own.Origins {
		n.Origins[i].Origin = own.Origins[i]
		if has, known := above[own.Origins[i].Origin]; known {
			n.Origins[i].Above = &has
		}
	}
	return n
}

// account is that of a node below. The caller holds mu.
func (b *Book) account(is *tree.Node) answer.LedgerNode {
	out := answer.LedgerNode{Node: is.Name, Path: is.Path, State: "silent", Origins: []answer.Hop{}, Gaps: []answer.Gap{}, Prefix: string(is.Prefix)}
	s := b.byChild[strings.ToLower(is.Path[0])]
	if s != nil {
		for i := range s.Nodes {
			if n := &s.Nodes[i]; slices.EqualFunc(n.Path, is.Path, strings.EqualFold) {
				out = *n
				out.Node, out.Path, out.Prefix = is.Name, is.Path, string(is.Prefix)
			}
		}
	}
	switch {
	case !is.Away.IsZero():
		out.Reason = "not connected since " + is.Away.UTC().Format(time.RFC3339)
	case s == nil:
		out.Reason = "it was not asked yet"
	case s.why != "":
		out.Reason = s.why
	case out.State == "silent":
		out.Reason = "it is new, and was not asked yet"
	default:
		out.Reason = ""
	}
	switch {
	case out.State == "silent":
	case out.Reason == "" && (out.State == "here" || out.State == "current"):
		out.State = "current"
	default:
		out.State = "old"
		if out.Reason == "" {
			out.Reason = "the node above it has not heard of it since"
		}
	}
	return out
}
