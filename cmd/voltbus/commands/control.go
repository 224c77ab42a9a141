package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/control"
)

// NewGet returns the command "get".
func NewGet(f *shell.Flags) *cobra.Command {
	var out shell.Format
	node := ""
	cmd := &cobra.Command{
		Use: "get <point>...", Short: "Read points from their devices now",
		Long: `Read points from their devices now, not from the history. Each point has its own result; the exit
code is 1 if any could not be read.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := readNow(s, ctx, node, args)
				if err != nil {
					return err
				}
				return printReadings(s, list.Readings, &out)
			})
		},
	}
	out.Register(cmd)
	shell.NodeFlag(cmd, &node)
	return cmd
}

// readNow reads points from their devices, at another node if one is named.
func readNow(s shell.Session, ctx context.Context, node string, points []string) (list answer.Readings, err error) {
	if node == "" {
		return client.Do(ctx, s.Client, control.Get, control.Points{Points: points})
	}
	return list, askNode(ctx, s, question{node, "get", map[string]any{"points": points}}, &list)
}

// question is a request to a node itself.
type question struct {
	node, method string
	args         map[string]any
}

// askNode sends a request to another node itself.
func askNode(ctx context.Context, s shell.Session, q question, into any) error {
	call := client.Call{Method: q.method, Kwargs: map[string]json.RawMessage{}}
	for name, v := range q.args {
		text, err := json.Marshal(v)
		if err != nil {
			return fault.E("voltbus", fault.Invalid, name, err)
		}
		call.Kwargs[name] = text
	}
	result, err := s.CallNode(ctx, q.node, "node", call)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fault.E("voltbus", fault.Corrupt, q.node, fmt.Errorf("its answer cannot be read: %w", err))
	}
	return nil
}

func printReadings(s shell.Session, list []answer.Reading, out *shell.Format) error {
	rows, err := out.Open(s.OutOrStdout(), "point", "value", "quality", "time", "error")
	if err != nil {
		return err
	}
	var failed error
	for i := range list {
		r := &list[i]
		problem := problemText(r.Error)
		if r.Error != nil && failed == nil {
			failed = faultOf(r.Point, r.Error)
		}
		if err := rows.Row(r.Point, r.Value, r.Quality, shell.TimeText(r.Time), problem); err != nil {
			return err
		}
	}
	return errors.Join(rows.End(), failed)
}

// faultOf returns the error of one of several items.
func faultOf(subject string, e *answer.ControlError) error {
	kind, _ := fault.ParseKind(e.Kind)
	return fault.E("voltbus", kind, subject, errors.New(e.Message))
}

func problemText(e *answer.ControlError) string {
	if e == nil {
		return ""
	}
	return e.Kind + ": " + e.Message
}

// setOptions are the flags of set.
type setOptions struct {
	command answer.NewCommand
	lease   time.Duration
	wait    time.Duration
	node    string
	out     shell.Format
}

// NewSet returns the command "set".
func NewSet(f *shell.Flags) *cobra.Command {
	var o setOptions
	cmd := &cobra.Command{
		Use: "set <point> <value> [<point> <value>]...", Short: "Command points",
		Long: `Command points. A command occupies a level of the point's priority array, where the smallest number wins, until it is
released or its lease ends. The command line waits for the device's feedback.

Exit codes: 1, the device refused the value or is busy: the status is "failed", and the former command stays. 2, a value
or the request is wrong. 3, the device was not reached: the command stays, and is retried. 4, you have no right to do
it, or a reservation, an override or another command conflicts, which is printed. 5, there is no such point. 6, the
device accepted the command and reports another value. 7, a rate or a minimum on or off time delays the command: the
output is "waiting", and "later" is the time at which it continues. For points that need approval see
"voltbus approve".`,
		Example: `  voltbus set site/zone1/setpoint 21.5 --lease 30m --reason "too warm"
  voltbus set site/fan1/run on site/fan2/run off
  voltbus set site/freezer/setpoint -18`,
		Args: pairs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return setPoints(s, ctx, args, &o) })
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.command.Level, "level", 8, "place in the priority array: 1, the most urgent, to 16")
	fs.DurationVar(&o.lease, "lease", 0, "end by itself after this, such as 30m; 0: when it is released")
	fs.StringVar(&o.command.Reason, "reason", "", "why, for people")
	fs.StringVar(&o.command.Task, "task", "", "the reservation that it belongs to")
	fs.StringVar(&o.command.ID, "id", "", "identifier: a repeat with the same one is not carried out again")
	fs.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait for what the device says, up to 1m; 0: only until it is decided")
	o.out.Register(cmd)
	shell.NodeFlag(cmd, &o.node)
	return shell.TakesNegatives(cmd)
}

func pairs(_ *cobra.Command, args []string) error {
	if len(args) == 0 || len(args)%2 != 0 {
		return errors.New("give each point its value: voltbus set <point> <value>")
	}
	return nil
}

// valueText converts a value as people write it to JSON: a number, true or false, otherwise a string.
func valueText(text string) json.RawMessage {
	if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) || text == "true" || text == "false" {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string cannot fail
	return quoted
}

func setPoints(s shell.Session, ctx context.Context, args []string, o *setOptions) error {
	wait := o.wait.Seconds()
	request := answer.NewCommands{Wait: &wait}
	for i := 0; i < len(args); i += 2 {
		c := o.command
		c.Point, c.Value, c.Lease = args[i], valueText(args[i+1]), o.lease.Seconds()
		if c.ID != "" && len(args) > 2 {
			c.ID += "/" + strconv.Itoa(i/2)
		}
		request.Commands = append(request.Commands, c)
	}
	var list answer.CommandResults
	var err error
	if o.node == "" {
		list, err = client.Do(ctx, s.Client, control.Command, request)
	} else {
		err = askNode(ctx, s, question{o.node, "set_many", map[string]any{"commands": request.Commands, "wait": wait}}, &list)
	}
	if err != nil {
		return err
	}
	return printResults(s, list.Results, o.node, &o.out)
}

// printResults prints the outcome of commands, of this node for "".
func printResults(s shell.Session, list []answer.Commanded, node string, out *shell.Format) error {
	rows, err := out.Open(s.OutOrStdout(), "point", "status", "wins", "output", "reported", "until", "later", "id", "error")
	if err != nil {
		return err
	}
	var failed error
	for i := range list {
		r := &list[i]
		if failed == nil {
			if failed = Unfulfilled(r); node != "" && r.Error != nil && r.Error.Missing != "" {
				failed = shell.LetBy(failed, node, r.Error.Missing)
			}
		}
		err := rows.Row(r.Point, r.Status, r.Wins, r.Output, orNull(r.Reported), shell.TimeText(r.Until), shell.TimeText(r.Later), r.ID, problemText(r.Error))
		if err != nil {
			return err
		}
	}
	return errors.Join(rows.End(), failed)
}

// ErrDiffers means that the device accepted a value other than the commanded one.
var ErrDiffers = errors.New("the device took the command and reports another value")

// errDeclined is the error of a command that the device declined.
var errDeclined = errors.New("the device did not take it, and what was commanded before stays")

// ErrStands is the error of a command blocked by a reservation, an override or another requester's command.
var ErrStands = errors.New("it is refused because of what somebody else holds")

// ErrWaiting is the error of a command delayed by a limit of the point.
var ErrWaiting = errors.New("it is accepted, and the point does not have the value yet")

// Unfulfilled returns why a point does not have its commanded value; nil if it has, or if that is not yet known.
func Unfulfilled(r *answer.Commanded) error {
	switch {
	case r.Status == "refused" && r.Error != nil && r.Error.Kind == fault.Conflict.String():
		return fmt.Errorf("%w: %w", ErrStands, faultOf(r.Point, r.Error))
	case r.Status == "failed" && r.Error != nil:
		return fmt.Errorf("%s: %w: %s", shell.Plain(r.Point), errDeclined, shell.Plain(r.Error.Message))
	case r.Error != nil:
		return faultOf(r.Point, r.Error)
	case r.Wins && (r.Output == "differs" || r.Output == "mismatch"):
		return fmt.Errorf("%s: %w: %s; look at its limits and its panel", shell.Plain(r.Point), ErrDiffers, shell.Plain(string(orNull(r.Reported))))
	case r.Wins && r.Output == "waiting":
		until := ""
		if r.Later != nil {
			until = "; it waits until " + shell.TimeText(r.Later)
		}
		return fmt.Errorf("%s: %w%s, because of its rate, its minimum on or off time, or a pause", shell.Plain(r.Point), ErrWaiting, until)
	}
	return nil
}

// orNull returns null for empty JSON.
func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// NewWho returns the command "who".
func NewWho(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "who <path>", Short: "Show who commands a point, a device or a branch, until when and why",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				w, err := client.Do(ctx, s.Client, control.Who, control.Path{Path: args[0]})
				if err != nil {
					return err
				}
				return printWho(s, &w, &out)
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func printWho(s shell.Session, w *answer.Who, out *shell.Format) error {
	rows, err := out.Open(s.OutOrStdout(), "what", "path", "level", "value", "requester", "from", "until", "reason", "output", "later")
	if err != nil {
		return err
	}
	lines := holdings(w)
	for i := range lines {
		l := &lines[i]
		level := ""
		if l.Level > 0 {
			level = strconv.Itoa(l.Level)
		}
		err = errors.Join(err, rows.Row(l.what, l.Path, level, orNull(l.value), l.Requester, shell.TimeText(l.From), shell.TimeText(l.Until), l.Reason, l.output, shell.TimeText(l.later)))
	}
	if w.Next != "" {
		fmt.Fprintln(s.ErrOrStderr(), "there are more points; ask for a branch below")
	}
	return errors.Join(err, rows.End())
}

// holding is a line of who.
type holding struct {
	answer.Holder
	what, output string
	value        json.RawMessage
	later        *time.Time // when the point continues, if something delays it
}

// holdings lists who holds what, highest precedence first.
func holdings(w *answer.Who) []holding {
	var lines []holding
	for _, h := range w.Overrides {
		lines = append(lines, holding{Holder: h, what: "override"})
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		for _, window := range t.Windows {
			what := "reserved later"
			if slices.Contains(t.Active, window) {
				what = "reservation"
			}
			h := answer.Holder{Path: window.Path, Requester: t.Requester, Reason: strings.TrimSuffix(t.Task+": "+t.Reason, ": ")}
			if from, err := time.Parse(time.RFC3339Nano, window.From); err == nil {
				h.From = &from
			}
			if until, err := time.Parse(time.RFC3339Nano, window.To); err == nil {
				h.Until = &until
			}
			lines = append(lines, holding{Holder: h, what: what})
		}
	}
	for i := range w.Points {
		lines = append(lines, ofPoint(&w.Points[i])...)
	}
	return lines
}

func ofPoint(p *answer.ControlPoint) []holding {
	var lines []holding
	for _, slot := range p.Array {
		lines = append(lines, holding{Holder: slot.Holder, what: "command", value: slot.Value})
	}
	if len(lines) == 0 {
		what := "nobody"
		switch {
		case p.Reverting:
			what = "going back"
		case len(p.Overrides) > 0:
			what = "overridden"
		}
		lines = append(lines, holding{Holder: answer.Holder{Path: p.Point}, what: what, value: p.Value()})
	}
	lines[0].output, lines[0].later = p.Output, p.Later
	return lines
}
