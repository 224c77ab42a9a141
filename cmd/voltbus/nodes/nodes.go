package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/internal/plural"
	nodes0 "voltbus/operation/nodes"
)

// NewNodes returns the command "nodes".
func NewNodes(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "nodes [name]", Short: "Show this node and all its descendants: status and backlog", Args: cobra.MaximumNArgs(1),
		Long: `Show this node and all its descendants, with their last report: each reports every ten seconds. A node that is
not connected is shown with its last report, and since when it is not connected. With a name, show everything about that node.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if len(args) == 0 {
					return listNodes(s, ctx, &out)
				}
				n, err := client.Do(ctx, s.Client, nodes0.Get, nodes0.Name{Name: args[0]})
				if err != nil {
					return err
				}
				if out.JSON || out.Name == "json" {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(n)
				}
				showNode(cmd, &n)
				return nil
			})
		},
	}
	out.Register(cmd)
	f.Where.Register(cmd)
	return cmd
}

func listNodes(s shell.Session, ctx context.Context, out *shell.Format) error {
	list, err := client.Do(ctx, s.Client, nodes0.List, struct{}{})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "node", "state", "roles", "version", "rtt_ms", "clock_ms", "waiting", "behind", "disk_gb", "celsius", "devices", "agents", "alerts", "heard")
	if err != nil {
		return err
	}
	for i := range list.Nodes {
		n := &list.Nodes[i]
		name := n.Name
		if out.Name == "table" && !out.JSON {
			name = strings.Repeat("  ", len(n.Path)) + name
		}
		err := rows.Row(name, stateOf(n), strings.Join(n.Roles, ","), n.Version, fmt.Sprintf("%.1f", n.RTTMS), fmt.Sprintf("%+.0f", n.OffsetMS),
			n.Waiting, behind(n), gigabytes(n.Disk), celsius(n), failing(n.Devices, n.DevicesFailing), failing(n.Agents, n.AgentsFailing), n.Alerts, heard(n))
		if err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	for _, r := range list.Refused {
		fmt.Fprintf(s.ErrOrStderr(), "%s is not let into the tree above: %s\n", shell.Plain(r.Name), shell.Plain(r.Why))
	}
	return nil
}

func stateOf(n *answer.Node) string {
	if n.State == answer.NodeAway && n.Since != nil {
		return "away since " + n.Since.Local().Format(time.DateTime)
	}
	return n.State
}

// behind returns the age of the oldest sample of a node that its parent does not have.
func behind(n *answer.Node) string {
	if n.WaitingSince == nil || n.Waiting == 0 {
		return ""
	}
	return max(0, time.Since(*n.WaitingSince)).Round(time.Second).String()
}

func gigabytes(octets int64) string {
	if octets == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(octets)/1e9)
}

func celsius(n *answer.Node) string {
	if n.Celsius == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", *n.Celsius)
}

func failing(all, bad int) string {
	if bad == 0 {
		return strconv.Itoa(all)
	}
	return fmt.Sprintf("%d (%d failing)", all, bad)
}

func heard(n *answer.Node) string {
	if n.Heard == nil {
		return "never"
	}
	return shell.Ago(*n.Heard)
}

// showNode prints everything about a node.
func showNode(cmd *cobra.Command, n *answer.Node) {
	line := func(what, format string, args ...any) {
		cmd.Printf("%-14s %s\n", what, shell.Plain(fmt.Sprintf(format, args...)))
	}
	line("node", "%s", n.Name)
	line("state", "%s", stateOf(n))
	if n.Parent != "" {
		line("parent", "%s", n.Parent)
	}
	if n.Prefix != "" {
		line("points below", "%s", n.Prefix)
	}
	line("origins", "%s", strings.Join(n.Origins, ", "))
	line("heard", "%s", heard(n))
	if n.Heard == nil && n.State != answer.NodeHere {
		return
	}
	line("roles", "%s", strings.Join(n.Roles, ", "))
	line("version", "%s", n.Version)
	if n.Started != nil {
		line("started", "%s", n.Started.Local().Format(time.DateTime))
	}
	showNodeLink(n, line)
	line("disk", "%s of %s GB left", gigabytes(n.Disk), gigabytes(n.DiskSize))
	if n.Celsius != nil {
		line("board", "%.1f °C", *n.Celsius)
	}
	line("memory", "%.0f MB, %.2f processors", float64(n.Memory)/1e6, n.CPU)
	line("devices", "%s, %s", failing(n.Devices, n.DevicesFailing), plural.Of(n.Points, "point"))
	line("agents", "%s", failing(n.Agents, n.AgentsFailing))
	line("alerts", "%d open", n.Alerts)
	line("health", "%s", n.Health)
	if n.Note != "" {
		line("note", "%s", n.Note)
	}
	for i := range n.Outages {
		line("outage", "%s", outageWords(&n.Outages[i]))
	}
	showLive(n.Live, func(name, text string) { line(name, "%s", text) })
	if r := n.Received; r != nil {
		line("received", "%s in %s, %s; %d here already, %d missing, %d left out", plural.Of(r.Samples, "sample"),
			plural.Of(r.Blocks, "block"), plural.Of(r.Bytes, "byte"), r.Repeated, r.Missing, r.Left)
		if r.Reason != "" {
			line("not taken", "%s", r.Reason)
		}
	}
}

// outageWords describes when a node was away, from which one, and the outcome for its backlog.
func outageWords(o *answer.Outage) string {
	from, here := "away", "here"
	if o.At != "" {
		from, here = "away from "+o.At, "at "+o.At
	}
	unknown := ""
	if o.Unknown != nil {
		unknown = fmt.Sprintf(" (before that unknown, from %s)", o.Unknown.Local().Format(time.DateTime))
	}
	if o.To == nil {
		return fmt.Sprintf("%s since %s%s", from, o.From.Local().Format(time.DateTime), unknown)
	}
	text := fmt.Sprintf("%s from %s to %s%s; %s waited", from, o.From.Local().Format(time.DateTime), o.To.Local().Format(time.DateTime), unknown, plural.Of(o.Waited, "sample"))
	switch {
	case o.Done == nil:
		text += fmt.Sprintf(", %d are not %s yet", o.Coming, here)
	case o.Waited > 0 && o.Missing+o.Left == 0:
		text += ", all arrived " + here
	}
	if o.Missing+o.Left > 0 {
		text += fmt.Sprintf(", %d are missing %s, %d were left out", o.Missing, here, o.Left)
	}
	return text
}

func showNodeLink(n *answer.Node, line func(string, string, ...any)) {
	if n.Link == "" {
		return
	}
	link := n.Link
	if n.State == answer.NodeAway { // this is its last report
		link = "was " + link
	}
	line("uplink", "%s", link)
	if n.LinkNote != "" {
		line("", "%s", n.LinkNote)
	}
	line("round trip", "%.1f ms", n.RTTMS)
	text := fmt.Sprintf("%+.0f ms against its parent's", n.OffsetMS)
	if n.SkewMS != nil {
		text += fmt.Sprintf(" (measured here: %+.0f ms)", *n.SkewMS)
	}
	line("clock", "%s", text)
	if n.Waiting > 0 {
		line("waiting", "%s, about %s, the oldest for %s",
			plural.Of(n.Waiting, "sample"), plural.Of(n.WaitingBytes, "byte"), behind(n))
	} else {
		line("waiting", "nothing")
	}
}
