package node

import (
	"cmp"
	"context"
	"time"

	"voltbus/audit"
	"voltbus/audit/head"
	"voltbus/audit/report"
	"voltbus/internal/datadir"
	"voltbus/uplink/links"
)

func openAudit(ctx context.Context, n *Node) error {
	var err error
	if n.audit, err = audit.Open(ctx, n.opts.Config.Node.Data, now); err != nil {
		return err
	}
	n.report = report.New(report.Options{Node: n.opts.Config.Node.Name, ReadOnly: n.opts.Idle, Audit: n.audit, Log: n.log, Now: now})
	bound := n.opts.Config.Audit
	n.audit.Bound(audit.Bound{MaxBytes: int64(bound.MaxBytes), Keep: bound.Keep})
	n.links = links.NewLinks(n.report.Link)
	return nil
}

// reportStart reports, once, that the node runs, and how its previous run ended.
func (n *Node) reportStart(ctx context.Context) {
	n.begun.Do(func() { reportBefore(ctx, n) })
}

func reportBefore(ctx context.Context, n *Node) {
	before, s := "stopped", n.audit.Status()
	switch {
	case s.Head.Seq == 0 && s.Damage == "":
		before = "never ran"
	case !s.Clean:
		before = "was killed, or the power failed"
	}
	if n.opts.WentBack != nil {
		defer n.settings.TellBack(ctx, n.opts.WentBack, nil)
	}
	n.report.Node(ctx, "node.start", nil, map[string]string{"version": n.opts.Version.Version, "before": before})
	n.damage.Report(ctx, n.report, n.catalog.Damage(), n.identity.Certificates)
}

// openHeads compares the audit log with the heads in the catalogue.
func openHeads(ctx context.Context, n *Node) error {
	origin, err := datadir.Origin(n.opts.Config.Node.Data)
	if err != nil { // reported when the block numbers are read
		origin = ""
	}
	n.heads, err = head.Open(ctx, head.Options{
		Audit: n.audit, Catalog: n.catalog, Origin: origin, ReadOnly: n.opts.Idle, Sign: n.identity.Node.Sign,
		Joined: func(child string) (time.Time, bool) {
			c, err := n.children.Child(child)
			return c.Joined, err == nil
		},
		Report: func(ctx context.Context, action, subject string, err error) {
			n.report.About(ctx, action, cmp.Or(subject, n.opts.Config.Node.Name), err, nil)
		},
		Log: n.log,
	})
	return err
}
