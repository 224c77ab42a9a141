package replica

import (
	"encoding/json"
	"strings"
	"time"

	"voltbus/api/answer"
)

// maxGaps is the maximum number of gaps reported per node, the newest.
const maxGaps = 100

// account is the part of a ledger that does not concern one origin.
type account struct {
	Ledger      string       `json:"ledger"`
	Reason      string       `json:"reason,omitempty"`
	Stores      bool         `json:"stores,omitempty"`
	Overwritten uint64       `json:"overwritten,omitempty"`
	Gaps        []answer.Gap `json:"gaps,omitempty"`
}

// ofLedger reports whether a part is one of the ledger.
func ofLedger(part string) bool { return part == ledgerPart || strings.HasPrefix(part, originPart) }

// accountParts returns the ledger of a node as parts of its document.
func accountParts(n *answer.LedgerNode) parts {
	p := make(parts, 1+len(n.Origins))
	a := account{Ledger: n.Ledger, Reason: clipText(n.Reason), Stores: n.Stores, Overwritten: n.Overwritten, Gaps: n.Gaps[:min(len(n.Gaps), maxGaps)]}
	p[ledgerPart], _ = json.Marshal(a) // strings, numbers and times cannot fail, as below
	for i := range n.Origins[:min(len(n.Origins), maxOrigins)] {
		h := &n.Origins[i]
		p[originPart+h.Origin.Origin], _ = json.Marshal(h)
	}
	return p
}

// OwnLedger sets the ledger of this node.
func (t *Table) OwnLedger(n *answer.LedgerNode) { t.own(accountParts(n), ofLedger) }

// Accounts lists the ledgers of all descendants, as last reported.
func (t *Table) Accounts() []answer.LedgerNode {
	var list []answer.LedgerNode
	for _, n := range t.Nodes() {
		list = append(list, t.account(&n))
	}
	return list
}

func (t *Table) account(n *Node) answer.LedgerNode {
	out := answer.LedgerNode{Node: n.Name, Path: n.Path, State: "silent", Origins: []answer.Hop{}, Gaps: []answer.Gap{}, Prefix: string(n.Prefix)}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.forest.record(n.Path[0], n.Name)
	if r == nil {
		out.Reason = whyUnknown
		return out
	}
	out.Reason = t.forest.branches[key(n.Path[0])].outdated(r, n, t.cfg.Now())
	var head account
	text, has := r.parts[ledgerPart]
	if !has || json.Unmarshal(text, &head) != nil {
		if out.Reason == "" {
			out.Reason = "it has not reported its ledger yet"
		}
		return out
	}
	out.Ledger, out.Stores, out.Overwritten, out.AsOf = head.Ledger, head.Stores, head.Overwritten, r.heard.UTC()
	out.Gaps = append(out.Gaps, head.Gaps...)
	for _, part := range sortedParts(r.parts, ofLedger) {
		var h answer.Hop
		if part != ledgerPart && json.Unmarshal(r.parts[part], &h) == nil {
			out.Origins = append(out.Origins, h)
		}
	}
	if out.State = "current"; out.Reason != "" {
		out.State = "old"
	}
	return out
}

// outdated returns why a node's report is old; "" for a current one.
func (b *branch) outdated(r *record, n *Node, now time.Time) string {
	switch {
	case !n.Away.IsZero():
		return "not connected since " + n.Away.UTC().Format(time.RFC3339)
	case b.why != "":
		return b.why
	case r.kept || r.heard.IsZero():
		return "it has not reported yet"
	case now.Sub(r.heard) > 6*Every:
		return "its parent has not heard of it since"
	}
	return ""
}

// Every is the interval at which a node determines its status.
const Every = 10 * time.Second
