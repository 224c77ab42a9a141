package data

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/commands"
	"voltbus/cmd/voltbus/nodes"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/operation/devices"
	"voltbus/operation/ledger"
	"voltbus/wire"
)

func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

const patternHelp = `A pattern selects points: * stands for anything within one segment, ** for any number of
segments; without a star it selects the path and all below it.`

// NewPoints returns the command "points".
func NewPoints(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var filter client.Filter
	cmd := &cobra.Command{
		Use: "points [pattern]", Short: "List points with their newest values", Long: "List points with their newest values.\n\n" + patternHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter.Pattern = argument(args)
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return listPoints(s, ctx, filter, &out)
			})
		},
	}
	cmd.Flags().StringVarP(&filter.Search, "search", "s", "", "only points with this text in path or description")
	cmd.Flags().StringVarP(&filter.Unit, "unit", "u", "", "only points with this unit")
	cmd.Flags().StringToStringVarP(&filter.Tags, "tag", "t", nil, "only points with this tag, as name=value")
	out.Register(cmd)
	return cmd
}

func listPoints(s shell.Session, ctx context.Context, filter client.Filter, out *shell.Format) error {
	newest, err := s.Latest(ctx, client.Span{Pattern: filter.Pattern})
	if err != nil {
		return err
	}
	latest := make(map[string]answer.Sample, len(newest.Samples))
	for _, sample := range newest.Samples {
		latest[sample.Point] = sample
	}
	rows, err := out.Open(s.OutOrStdout(), "point", "value", "unit", "quality", "time", "kind", "writable", "description")
	if err != nil {
		return err
	}
	found := false
	for p, err := range s.AllPoints(ctx, filter) {
		if err != nil {
			return err
		}
		found = true
		last, at := latest[p.Path], ""
		if !last.Time.IsZero() {
			at = last.Time.Format(time.RFC3339Nano)
		}
		if last.Value == nil {
			last.Value = json.RawMessage("null")
		}
		if err := rows.Row(p.Path, last.Value, p.Unit, last.Quality, at, p.Kind, p.Writable, p.Description); err != nil {
			return err
		}
	}
	if !found {
		return fault.E("points", fault.NotFound, filter.Pattern, errors.New("no point matches; voltbus points alone lists all"))
	}
	return rows.End()
}

// NewTail returns the command "tail".
func NewTail(f *shell.Flags) *cobra.Command {
	asJSON, limit, node := false, 0, ""
	cmd := &cobra.Command{
		Use: "tail [pattern]", Short: "Show values live", Long: "Show values live, until interrupted.\n\n" + patternHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return shell.Usage(errors.New("--count must be 1 or more"))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return followPoints(s, ctx, client.Live{Pattern: argument(args), Node: node}, asJSON, limit)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the live messages as they are, one a line")
	cmd.Flags().IntVarP(&limit, "count", "n", 0, "end after so many messages")
	shell.NodeFlag(cmd, &node)
	return cmd
}

func followPoints(s shell.Session, ctx context.Context, want client.Live, asJSON bool, limit int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p, err := s.Points(ctx, client.Filter{Pattern: want.Pattern, Limit: 1}); want.Node == "" && err == nil && len(p.Points) == 0 {
		s.PrintErrf("no point matches %q now; waiting for one\n", want.Pattern)
	}
	want.Dropped = func(messages int) { s.PrintErrf("%s came too fast to be shown\n", plural.Of(messages, "message")) }
	var telling sync.WaitGroup
	if want.Node == "" {
		telling.Go(func() { nodes.WatchWithheld(ctx, s, want.Pattern) })
	}
	defer telling.Wait()
	defer cancel()
	seen := 0
	return s.Follow(ctx, want, func(message json.RawMessage) error {
		if seen++; limit > 0 && seen >= limit {
			cancel()
		}
		if asJSON {
			s.Println(string(message))
			return nil
		}
		return printScan(s, message)
	})
}

func printScan(s shell.Session, message json.RawMessage) error {
	scan, err := wire.ParseScan(message)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(scan.Points)) {
		quality := scan.Quality[name]
		if quality != "" {
			quality = "  " + quality
		}
		s.Println(shell.Plain(fmt.Sprintf("%s  %s  %s%s", scan.Time.UTC().Format("15:04:05.000Z"),
			scan.Device.Join(name), shell.Cell(scan.Points[name]), quality)))
	}
	return nil
}

// NewDevices returns the command "devices".
func NewDevices(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "devices", Short: "Show the devices and their state", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return listDevices(s, ctx, &out) })
		},
	}
	out.Register(cmd)
	cmd.AddCommand(commands.NewFreeze(f))
	return cmd
}

func listDevices(s shell.Session, ctx context.Context, out *shell.Format) error {
	d, err := client.Do(ctx, s.Client, devices.List, struct{}{})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "device", "state", "driver", "line", "points", "reads", "failures", "latency_ms", "last_read", "last_error")
	if err != nil {
		return err
	}
	for _, d := range d.Devices {
		last := ""
		if d.LastRead != nil {
			last = d.LastRead.Format(time.RFC3339)
		}
		trouble := cmp.Or(d.Concern, d.Problem)
		if trouble == "" && d.LastErrorTime != nil {
			trouble = fmt.Sprintf("%s (%s, %s)", d.LastError, d.ErrorKind, shell.Ago(*d.LastErrorTime))
		}
		if err := rows.Row(d.Path, d.State, d.Driver, d.Line, d.Points, d.Reads, d.Failures,
			fmt.Sprintf("%.1f", d.LatencyMS), last, trouble); err != nil {
			return err
		}
	}
	return rows.End()
}

// NewLedger returns the command "ledger".
func NewLedger(f *shell.Flags) *cobra.Command {
	asJSON, local := false, false
	cmd := &cobra.Command{
		Use: "ledger", Short: "Verify that nothing was lost, or show what was", Args: cobra.NoArgs,
		Long: `Verify that nothing was lost, or show what was: of this node and of every descendant, for each origin what
was produced and acknowledged there, and what is stored, left out, missing or on its way at each node. Nodes
that do not answer are shown with what they said last.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				l, err := client.Do(ctx, s.Client, ledger.Get, ledger.Reach{Local: local})
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(l)
				}
				return printLedger(cmd, &l)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&local, "local", false, "only this node")
	return cmd
}

// printNodes prints the accounts of origins at each node.
func printNodes(cmd *cobra.Command, l *answer.Ledger) error {
	cmd.Println(shell.Plain(l.Sentence))
	cmd.Println()
	if len(l.Nodes) < 2 {
		return nil
	}
	var out shell.Format
	out.Name = "table"
	rows, err := out.Open(cmd.OutOrStdout(), "NODE", "ORIGIN", "ACKNOWLEDGED", "STORED", "LEFT OUT", "MISSING", "ABOVE HAS", "ADDS UP", "AS OF")
	if err != nil {
		return err
	}
	for i := range l.Nodes {
		if err := printHops(rows, &l.Nodes[i]); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	cmd.Println()
	return nil
}

// printHops prints the accounts of origins at a node.
func printHops(out shell.Rows, n *answer.LedgerNode) error {
	at, asOf := strings.Repeat("  ", len(n.Path))+n.Node, ""
	if n.State == "old" || n.State == "silent" {
		asOf = n.State + ": " + n.Reason
		if !n.AsOf.IsZero() {
			asOf = shell.TimeText(&n.AsOf) + " " + asOf
		}
	}
	if len(n.Origins) == 0 {
		return out.Row(at, "", "", "", "", "", "", "", asOf)
	}
	for k := range n.Origins {
		h, above := &n.Origins[k], ""
		if h.Above != nil {
			above = strconv.FormatUint(*h.Above, 10)
		}
		if err := out.Row(at, h.Origin.Origin, h.Acknowledged, h.Stored, h.Left, h.Missing, above, shell.Yes(h.Balanced), asOf); err != nil {
			return err
		}
	}
	return nil
}

func printLedger(cmd *cobra.Command, l *answer.Ledger) error {
	if err := printNodes(cmd, l); err != nil {
		return err
	}
	var out shell.Format
	out.Name = "table"
	rows, err := out.Open(cmd.OutOrStdout(), "ORIGIN", "PRODUCED", "ACKNOWLEDGED", "STORED", "WAITING", "REFUSED", "MISSING", "REPEATED", "LEFT OUT", "ADDS UP")
	if err != nil {
		return err
	}
	for _, o := range l.Origins {
		if err := rows.Row(o.Origin, o.Produced, o.Acknowledged, o.Stored, o.BacklogSamples, o.Refused, o.Missing, o.Repeated, o.Left, shell.Yes(o.Balanced)); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	cmd.Printf("\nlog: %s, %.1f of %.0f MB; dropped before they were stored: %s, %s\n",
		plural.Of(l.Log.Blocks, "block"), float64(l.Log.Bytes)/1e6, float64(l.Log.MaxBytes)/1e6,
		plural.Of(l.Log.DroppedBlocks, "block"), plural.Of(l.Log.DroppedSamples, "sample"))
	if l.Overwritten > 0 {
		cmd.Printf("overwritten: %s, in the place of which another value with the same point and time is stored\n", plural.Of(l.Overwritten, "sample"))
	}
	if l.State != "ok" {
		cmd.Printf("state: %s: %s\n", l.State, shell.Plain(l.Reason))
	}
	for _, g := range l.Gaps {
		cmd.Printf("gap: %s blocks %d–%d, %s, %s, noticed %s\n",
			shell.Plain(g.Origin), g.First, g.Last, plural.Of(g.Samples, "sample"), g.Reason, shell.Ago(g.Noticed))
	}
	for _, d := range l.Damaged {
		cmd.Printf("damaged: %s: %s\n", shell.Plain(d.File), shell.Plain(d.Reason))
	}
	return nil
}
