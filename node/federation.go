package node

import (
	"context"
	"strings"
	"time"

	"voltbus/bus/dispatch"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/memory"
	"voltbus/uplink"
	"voltbus/uplink/federation"
	"voltbus/uplink/replica"
	"voltbus/wire"
)

// newFederation lets questions about the history reach what nodes below have not sent yet.
func (n *Node) newFederation() *federation.Federation {
	var kept store.Store = n.history.Store()
	if n.history.Store() == nil {
		kept = memory.New(memory.Options{}) // which stays empty
	}
	return federation.New(federation.Config{
		Name: n.opts.Config.Node.Name, Store: kept, LogOnly: n.history.Store() == nil, Catalog: n.catalog, Limits: query.DefaultLimits(), Now: now, Log: n.blocks,
		Children: n.historians, Ask: n.askHistory, Below: n.sender.Below, Place: n.sender.Place,
		Sent: func(p point.Path) bool { _, sent := n.sender.Sent(p); return sent },
	})
}

// historians lists the children as those who may be asked for history.
func (n *Node) historians() []federation.Child {
	if len(n.children.List()) == 0 {
		return nil
	}
	away := map[string]time.Time{}
	below := n.nodes.Nodes()
	for i := range below {
		if len(below[i].Path) == 1 {
			away[strings.ToLower(below[i].Name)] = below[i].Away
		}
	}
	behind, present := n.nodes.Waiting(), n.bus.Present()
	var list []federation.Child
	for _, c := range n.neighbours.Children() {
		seen, _ := n.nodes.Look(c.Name, c.Name)
		came := present[identity.ChildPrefix+c.Name]
		child := federation.Child{
			Name: c.Name, Prefix: c.Prefix, Online: c.Online, Away: away[strings.ToLower(c.Name)], Waiting: seen.Waiting,
			Below: behind[strings.ToLower(c.Name)], Unheard: c.Online && seen.Heard.Before(came) && time.Since(came) < replica.Every,
		}
		if c.Prefix == "" {
			granted, _ := n.neighbours.Child(c.Name)
			child.Record = granted.Grants.Record
		}
		list = append(list, child)
	}
	return list
}

// askHistory asks a child for samples that are not stored here.
func (n *Node) askHistory(ctx context.Context, child string, body []byte) ([]byte, error) {
	return n.neighbours.AskNewer(ctx, child, federation.Method, body, "answer questions about what it did not send")
}

// answerHistory answers the parent's question for samples that it does not have.
func (n *Node) answerHistory(ctx context.Context, r *dispatch.Request) []byte {
	grants, err := allowed(&n.Config().Uplink)
	if err != nil {
		return uplink.Refusal(err)
	}
	answer, err := n.below.Answer(ctx, &grants, r.Data)
	if err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, answer)
}
