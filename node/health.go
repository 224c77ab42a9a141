package node

import (
	"context"

	"voltbus/api/answer"
	"voltbus/uplink/shape"
	"voltbus/verdict"
)

// Health implements api.Health.
func (n *Node) Health(ctx context.Context) answer.Health {
	all := n.Concerns(ctx)
	h := answer.Health{Status: "ok", Started: n.started, Summary: n.counted(), Concerns: make([]answer.Concern, len(all))}
	for i := range all {
		h.Status = "degraded"
		h.Concerns[i] = shownConcern(&all[i])
	}
	for _, name := range verdict.Parts() {
		if !n.has(name) {
			continue
		}
		p := answer.Part{Name: string(name), Status: "ok"}
		if err := partTrouble(all, name); err != nil {
			p.Status, p.Reason = "degraded", err.Error()
		}
		h.Parts = append(h.Parts, p)
	}
	return h
}

// has reports whether this node has a part.
func (n *Node) has(part verdict.Part) bool {
	switch part {
	case verdict.Store:
		return n.sink != nil
	case verdict.Control:
		return n.desk != nil
	case verdict.Uplink:
		_, member := n.parent.Current()
		return member
	case verdict.Configuration:
		return n.settings != nil
	default:
		return true
	}
}

func shownConcern(c *verdict.Concern) answer.Concern {
	return answer.Concern{
		Part: string(c.Part), Severity: string(c.Severity), Subject: c.Subject, Sentence: c.Sentence, Kind: c.Kind,
		Since: shape.Moment(c.Since.UTC()), Link: c.Link,
	}
}
