package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/query"
	"voltbus/virtual/replay"
	"voltbus/virtual/world"
)

// NewReplay returns the command "replay".
func NewReplay(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay", Short: "Play recorded history to an agent, and compare what it decides",
		Long: `Play a stretch of a node's history to an agent in virtual time, and compare what it commands with what was commanded then,
or with another replay.

  voltbus replay record DIR 'campus/**' --from -7d --agent cooling    a week of readings, and the commands of an agent
  voltbus replay run DIR --class cooling:Cooling                      the same agent, or another version

The history does not answer: after a decision that differs, readings are still those of then.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	record := newReplayRecord(f)
	f.Where.Register(record)
	for _, sub := range []*cobra.Command{record, newReplayRun()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

func newReplayRecord(f *shell.Flags) *cobra.Command {
	from, to, agent := "-1d", "now", ""
	cmd := &cobra.Command{
		Use: "record DIR PATTERN", Short: "Record readings, and the commands of an agent", Args: cobra.ExactArgs(2),
		Long: `Write readings of points, and what the audit log has of commands, into a new folder. The audit log needs the right to read it.

Times are RFC 3339 (2026-03-01T06:00:00Z), a date (2026-03-01, midnight UTC), or relative: now, -15m, -7d.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h := &replay.Head{Node: "node", Agent: agent}
			var errFrom, errTo error
			now := time.Now().UTC()
			h.From, errFrom = query.ParseTime(from, now)
			h.To, errTo = query.ParseTime(to, now)
			if err := errors.Join(errFrom, errTo); err != nil {
				return shell.Usage(err)
			}
			if !h.To.After(h.From) {
				return shell.Usage(fmt.Errorf("--from %s is not before --to %s", from, to))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return recordFrom(ctx, s.Client, h, args[0], args[1])
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&from, "from", from, "first time")
	fs.StringVar(&to, "to", to, "time behind the last")
	fs.StringVar(&agent, "agent", agent, "name of the agent whose commands are compared")
	_ = cmd.MarkFlagRequired("agent")
	return cmd
}

func recordFrom(ctx context.Context, c *client.Client, h *replay.Head, dir, pattern string) error {
	for p, err := range c.AllPoints(ctx, client.Filter{Pattern: pattern}) {
		if err != nil {
			return err
		}
		h.Points = append(h.Points, replay.Point{Path: p.Path, Device: p.Device, Writable: p.Writable})
	}
	if len(h.Points) == 0 {
		return fault.E("replay record", fault.NotFound, pattern, errors.New("no point matches; voltbus points lists them"))
	}
	return replay.Record(dir, h, &nodeSource{ctx, c, client.Span{Pattern: pattern, From: h.From.Format(time.RFC3339Nano), To: h.To.Format(time.RFC3339Nano)}})
}

// nodeSource reads from a node. It lives for one recording.
type nodeSource struct {
	ctx  context.Context //nolint:containedctx // one call
	c    *client.Client
	span client.Span
}

// Readings implements replay.Source.
func (n *nodeSource) Readings(w io.Writer) error {
	_, err := n.c.Export(n.ctx, n.span, "csv", w)
	return err
}

// Audit implements replay.Source.
func (n *nodeSource) Audit(w io.Writer) error {
	return n.c.ExportAudit(n.ctx, client.AuditFilter{From: n.span.From, To: n.span.To, Action: "control.*"}, w)
}

// again holds the arguments of "replay run".
type again struct {
	replay.Options
	settings, against, decisions string
	json                         bool
}

func newReplayRun() *cobra.Command {
	a := again{}
	a.Folder = "."
	cmd := &cobra.Command{
		Use: "run DIR", Short: "Play a recording to an agent, and compare its commands", Args: cobra.ExactArgs(1),
		Long: `Play a recording to an agent, as fast as possible unless --pace says otherwise. The report says for each point how much of the
time it was commanded alike, and when it was not. The exit code is 0 also if there are differences.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&a.Class, "class", "", "the agent, as package.module:Class")
	fs.StringVar(&a.Folder, "path", a.Folder, "folder of its module")
	fs.StringVar(&a.settings, "settings", "", `its settings as JSON, such as '{"limit": 25}', or @FILE`)
	fs.StringVar(&a.Python, "python", "python3", "the interpreter")
	fs.Float64Var(&a.Pace, "pace", 0, "how many times real time; 0 is as fast as possible")
	fs.StringVar(&a.decisions, "save", "", "file for the commands of this replay")
	fs.StringVar(&a.against, "against", "", "file of --save of another replay, to compare with instead of then")
	fs.Float64Var(&a.Limits.Tolerance, "tolerance", 0, "how much numbers may differ")
	fs.DurationVar(&a.Limits.Slack, "slack", 2*time.Second, "how long values may differ")
	fs.BoolVar(&a.json, "json", false, "print the report as JSON, for programs")
	_ = cmd.MarkFlagRequired("class")
	return cmd
}

func (a *again) run(cmd *cobra.Command, dir string) (err error) {
	r, err := replay.Open(dir)
	if err != nil {
		return err
	}
	if err := a.readSettings(); err != nil {
		return err
	}
	var against []replay.Decision
	if a.against != "" {
		data, err := os.ReadFile(a.against)
		if err == nil {
			err = json.Unmarshal(data, &against)
		}
		if err != nil {
			return fault.E("replay run", fault.Invalid, a.against, err)
		}
	}
	sdk, remove, err := unpackSDK()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	a.World = world.Options{Log: cmd.ErrOrStderr(), SDK: sdk}
	report, err := replay.Run(cmd.Context(), r, against, a.Options)
	if err != nil {
		return err
	}
	return a.finish(cmd, report)
}

func (a *again) readSettings() error {
	text := []byte(a.settings)
	if name, ok := strings.CutPrefix(a.settings, "@"); ok {
		var err error
		if text, err = os.ReadFile(name); err != nil { //nolint:gosec // the file that the user names
			return fault.E("replay run", fault.NotFound, name, err)
		}
	}
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, &a.Config); err != nil {
		return shell.Usage(fmt.Errorf("--settings: %w; write JSON such as {\"limit\": 25}", err))
	}
	return nil
}

func (a *again) finish(cmd *cobra.Command, report *replay.Report) error {
	if a.decisions != "" {
		data, err := json.MarshalIndent(report.Now, "", " ")
		if err == nil {
			err = os.WriteFile(a.decisions, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if a.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
	}
	if err := report.World.Text(cmd.OutOrStdout()); err != nil {
		return err
	}
	return report.Comparison.Text(cmd.OutOrStdout())
}
