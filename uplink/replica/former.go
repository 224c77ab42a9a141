package replica

// This file communicates with nodes of the previous version, which report by three methods, and reads the files
// of that version. It is to be removed in the next minor version but one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/wire"
)

// The methods of the former version.
const (
	FormerTreeMethod   = "tree.report"  // from a child: its descendants
	FormerFleetMethod  = "fleet.report" // from a child: its own and its descendants' status
	FormerLedgerMethod = "tree.ledger"  // from a parent: requests the ledgers of a child and its descendants
)

type formerNodes struct {
	Nodes []Node `json:"nodes"`
}

type formerEntry struct {
	Node  string `json:"n,omitempty"`
	Full  bool   `json:"f,omitempty"` // absent facts have been removed
	Age   int64  `json:"a,omitempty"`
	Facts parts  `json:"s,omitempty"`
}

type formerStatus struct {
	Time  time.Time     `json:"time"`
	Nodes []formerEntry `json:"nodes"`
}

type formerReception struct {
	Time  time.Time `json:"time"`
	Again bool      `json:"again,omitempty"`
	Audit string    `json:"audit,omitempty"`
}

// isUnknown reports whether a parent does not know a method.
func isUnknown(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Refused) }

// former is a connection to a parent of the former version.
type former struct {
	session session
	begun   bool   // all facts have been marked for sending
	names   string // the nodes last reported
	at      time.Time
}

// report reports what is new.
func (f *former) report(ctx context.Context, r *Reporter, as string) error {
	if err := f.reportNames(ctx, r, as); err != nil {
		return err
	}
	if !f.begun {
		f.session.begun, f.session.agreed, f.begun = true, true, true
		r.table.resend()
	}
	for {
		out, more := f.session.next()
		if out == nil {
			return nil
		}
		again, err := f.reportStatus(ctx, r, out)
		if err != nil || again {
			f.begun = false
		}
		if err != nil || again || !more {
			return err
		}
	}
}

// resend sends the parent everything, as if it knew nothing.
func (t *Table) resend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forest.gone = nil
	for _, r := range t.forest.outward(t.cfg.Place) {
		r.differs(nil)
		r.sent = 0
	}
}

func (f *former) reportNames(ctx context.Context, r *Reporter, as string) error {
	t := r.table
	t.meet()
	t.mu.Lock()
	var out formerNodes
	for _, rec := range t.forest.outward(t.cfg.Place) {
		var n Node
		text, _ := rec.value(nodePart)
		_ = json.Unmarshal(text, &n) // it was encoded here
		if n.Name = rec.name; rec == t.forest.self {
			n.Name = as
		}
		out.Nodes = append(out.Nodes, n)
	}
	t.mu.Unlock()
	body, err := json.Marshal(out)
	if err != nil { // names and times cannot fail
		return err
	}
	_, refused := r.lineage.Ancestors()
	now := r.cfg.Now()
	if f.names == string(body) && (len(refused) == 0 || now.Sub(f.at) < pauseTime) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	heard := r.lineage.News()
	data, err := r.cfg.Up(ctx, FormerTreeMethod, body)
	if err != nil {
		return err
	}
	var in Reception
	if err := json.Unmarshal(data, &in); err != nil {
		return fault.E("replica.Report", fault.Corrupt, "answer", err)
	}
	f.names, f.at = string(body), now
	r.accepted(ctx, &in, heard)
	return nil
}

func (f *former) reportStatus(ctx context.Context, r *Reporter, in *Report) (again bool, err error) {
	out := formerStatus{Time: r.cfg.Now()}
	for i := range in.Nodes {
		e := &in.Nodes[i]
		if e.Gone {
			continue
		}
		for name := range e.Parts {
			if !isFact(name) {
				delete(e.Parts, name)
			}
		}
		out.Nodes = append(out.Nodes, formerEntry{Node: e.Node, Full: e.Base == 0, Age: e.Age, Facts: e.Parts})
	}
	body, err := json.Marshal(out)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	data, err := r.cfg.Up(ctx, FormerFleetMethod, body)
	if err != nil {
		return false, err
	}
	if _, err = r.received(ctx, out.Time, data); err != nil {
		return false, err
	}
	var answer formerReception
	err = json.Unmarshal(data, &answer)
	return answer.Again, err
}

// TakeFormer processes a report of a child of the former version by one of its methods, as Take does.
func (t *Table) TakeFormer(child, method string, body []byte, audit string) ([]byte, error) {
	const op = "replica.Take"
	var in struct {
		formerStatus
		Nodes json.RawMessage `json:"nodes"`
	}
	if len(body) > maxReport && method != FormerTreeMethod {
		return nil, fault.E(op, fault.Invalid, child, errLong)
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fault.E(op, fault.Invalid, child, fmt.Errorf("%w: %w", errReport, err))
	}
	out := Reception{Time: t.cfg.Now(), Above: t.cfg.Lineage.Names()}
	err := t.with(child, func(b *branch) error {
		if b.modern = false; method == FormerTreeMethod {
			return t.forest.takeFormerNodes(b, in.Nodes)
		}
		x := exchange{forest: &t.forest, branch: b, in: &Report{Time: in.Time}, now: t.cfg.Now(), want: map[string]map[string]uint64{}}
		return x.takeFormerStatus(in.Nodes)
	}, &out.Refused)
	if err != nil {
		return nil, err
	}
	if method == FormerTreeMethod {
		return json.Marshal(out)
	}
	return json.Marshal(formerReception{Time: t.cfg.Now(), Audit: audit})
}

var (
	errManyNodes = fmt.Errorf("tells of more than %d nodes", MaxNodes)
	errOldNames  = errors.New("tells of no nodes, or not of itself first")
)

func (f *forest) takeFormerNodes(b *branch, text json.RawMessage) error {
	var nodes []Node
	if err := json.Unmarshal(text, &nodes); err != nil {
		return err
	}
	switch {
	case len(nodes) > MaxNodes:
		return errManyNodes
	case len(nodes) == 0 || len(nodes[0].Path) > 0:
		return errOldNames
	}
	there := map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		r := b.child
		if i > 0 {
			if r = b.nodes[key(n.Name)]; r == nil {
				r = newRecord(strings.Clone(clipText(n.Name)))
				b.nodes[key(r.name)] = r
			}
			there[key(r.name)] = true
		}
		n.Name, n.Origins = "", clipTexts(n.Origins, maxListed)
		text, err := json.Marshal(n)
		if err != nil || len(text) > maxLarge {
			return errLong
		}
		f.merge(b, r, parts{nodePart: text})
	}
	f.drop(b, func(r *record) bool { return !there[key(r.name)] && len(r.parts[nodePart]) > 0 })
	return nil
}

func (x *exchange) takeFormerStatus(text json.RawMessage) error {
	var list []formerEntry
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for i := range list {
		f := &list[i]
		e := Entry{Node: f.Node, Age: f.Age, Parts: f.Facts}
		if err := e.check(); err != nil {
			return err
		}
		if key(e.Node) == key(x.branch.child.name) {
			e.Node = ""
		}
		r := x.record(&e)
		if r == nil {
			continue
		}
		maps.DeleteFunc(e.Parts, func(name string, _ json.RawMessage) bool { return !isFact(name) })
		if f.Full {
			e.Parts = r.withoutGone(e.Parts)
		}
		e.Base, e.Version = r.version, r.version+1
		if err := x.entry(&e); err != nil {
			return err
		}
	}
	return nil
}

// withoutGone adds to a full set of facts the removal of those that the node no longer has.
func (r *record) withoutGone(all parts) parts {
	for name := range r.parts {
		if _, still := all[name]; still || !isFact(name) {
			continue
		}
		if all == nil {
			all = parts{}
		}
		all[name] = json.RawMessage(absent)
	}
	return all
}

// askFormer asks a child of the former version for the ledgers of itself and its descendants.
func (r *Reporter) askFormer(ctx context.Context, child string, body []byte) error {
	data, err := r.cfg.Down(ctx, child, FormerLedgerMethod, body)
	if err != nil {
		return err
	}
	if err := wire.Readable(child, data); err != nil {
		return fault.E("replica.ask", fault.Corrupt, child, err)
	}
	var nodes []answer.LedgerNode
	if err := json.Unmarshal(data, &nodes); err != nil || len(nodes) == 0 || len(nodes) > MaxNodes {
		return fault.E("replica.ask", fault.Corrupt, child, errLedger)
	}
	for i := range nodes {
		if len(nodes[i].Path) > MaxHops || len(nodes[i].Origins) > maxOrigins {
			return fault.E("replica.ask", fault.Corrupt, child, errLedger)
		}
	}
	r.table.takeFormerLedgers(child, nodes)
	return nil
}

var errLedger = errors.New("says of its ledger what cannot be read; is its version much newer?")

func (t *Table) takeFormerLedgers(child string, nodes []answer.LedgerNode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.forest.branches[key(child)]
	if b == nil {
		return
	}
	for i := range nodes {
		n := &nodes[i]
		r := b.child
		if i > 0 {
			if r = b.nodes[key(n.Node)]; r == nil || n.State == "silent" || !slices.EqualFunc(r.node.Path[min(1, len(r.node.Path)):], n.Path, strings.EqualFold) {
				continue
			}
		}
		if t.forest.merge(b, r, r.without(accountParts(n), ofLedger)); b.bytes > maxBranch {
			t.forest.merge(b, r, r.without(nil, ofLedger))
		}
		if i == 0 || n.State == "current" {
			r.heard, r.kept = t.cfg.Now(), false
		}
		r.fresh = true
	}
}

// FormerLedgers answers a parent of the former version with the ledgers of this node, from own, and of all its descendants.
func (r *Reporter) FormerLedgers(ctx context.Context, body []byte) ([]byte, error) {
	var ms int64
	if err := json.Unmarshal(body, &ms); err != nil || ms < 0 {
		ms = 0
	}
	own, err := r.cfg.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	if wait := min(time.Duration(ms)*time.Millisecond, patience); wait >= fresh/4 {
		r.ask(ctx, wait, false)
	}
	return json.Marshal(append([]answer.LedgerNode{own}, r.table.Accounts()...))
}

// The files of the former version.
const (
	formerTreeFile    = "tree.json"
	formerLedgersFile = "ledgers.json"
	formerOutagesFile = "outages.json"
)

// readFormer reads the files of the former version. Unreadable data is skipped: children report it again.
func readFormer(dir string) *content {
	c := &content{Children: map[string]*keptBranch{}}
	var branches map[string]*struct {
		Nodes []Node    `json:"nodes"`
		Away  time.Time `json:"away"`
		Heard time.Time `json:"heard"`
	}
	readJSON(filepath.Join(dir, formerTreeFile), &branches)
	for k, b := range branches {
		if b == nil || len(b.Nodes) == 0 || len(b.Nodes) > MaxNodes {
			continue
		}
		kept := &keptBranch{Away: b.Away}
		for i := range b.Nodes {
			n := b.Nodes[i]
			one := keptNode{Name: n.Name, Prefix: n.Prefix, Heard: b.Heard}
			if n.Name = ""; i > 0 {
				n.Path = n.Path[min(1, len(n.Path)):] // starting at the child
			} else {
				n.Path = nil
			}
			text, _ := json.Marshal(n) // it was decoded from JSON
			one.Parts = parts{nodePart: text}
			if i == 0 {
				kept.Child = one
			} else {
				kept.Nodes = append(kept.Nodes, &one)
			}
		}
		c.Children[k] = kept
	}
	var ledgers map[string]*struct {
		Nodes []answer.LedgerNode `json:"nodes"`
	}
	readJSON(filepath.Join(dir, formerLedgersFile), &ledgers)
	for k, l := range ledgers {
		if b := c.Children[k]; b != nil && l != nil {
			b.addLedgers(l.Nodes)
		}
	}
	var outages json.RawMessage
	if readJSON(filepath.Join(dir, formerOutagesFile), &outages); len(outages) > 0 {
		c.Outages = outages
	}
	return c
}

// removeFormer removes the files that were read, so that they are not taken for current.
func removeFormer(dir string) {
	for _, name := range []string{formerTreeFile, formerLedgersFile, formerOutagesFile} {
		_ = os.Remove(filepath.Join(dir, name)) // a leftover is not read again
	}
}

func (b *keptBranch) addLedgers(nodes []answer.LedgerNode) {
	all := map[string]*keptNode{key(b.Child.Name): &b.Child}
	for _, n := range b.Nodes {
		all[key(n.Name)] = n
	}
	for i := range nodes {
		n := all[key(nodes[i].Node)]
		if n == nil || nodes[i].State == "silent" {
			continue
		}
		maps.Copy(n.Parts, accountParts(&nodes[i]))
		n.Heard = nodes[i].AsOf
	}
}

func readJSON(file string, into any) {
	data, err := os.ReadFile(file)
	if err == nil {
		_ = json.Unmarshal(data, into) // unreadable data is reported again
	}
}
