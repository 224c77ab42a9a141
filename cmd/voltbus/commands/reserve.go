package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/query"
)

// NewReserve returns the command "reserve".
func NewReserve(f *shell.Flags) *cobra.Command {
	var task answer.NewTask
	var from, to string
	cmd := &cobra.Command{
		Use: "reserve <task> <path>...", Short: "Reserve points, devices or branches for a time",
		Long: `Reserve points, devices or branches for a time, all or none. Nobody else commands them meanwhile,
except with the most urgent levels. On a conflict, the owner, the paths and the time are printed.`,
		Example: `  voltbus reserve tests site/ahu --from now --to now+2h
  voltbus reserve nightly site/boiler1 site/boiler2 --from 2026-02-01T20:00:00Z --to 2026-02-02T04:00:00Z --priority high`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin, err := query.ParseTime(from, time.Now())
			if err != nil {
				return shell.Usage(err)
			}
			end, err := query.ParseTime(to, time.Now())
			if err != nil {
				return shell.Usage(err)
			}
			task.Task = args[0]
			for _, path := range args[1:] {
				task.Windows = append(task.Windows, answer.Window{Path: path, From: begin.Format(time.RFC3339Nano), To: end.Format(time.RFC3339Nano)})
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return reservePoints(s, ctx, task) })
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&from, "from", "now", "begin, such as now, now+1h or 2026-01-31T12:00:00Z")
	fs.StringVar(&to, "to", "now+1h", "end")
	fs.StringVar(&task.Priority, "priority", "low", "high takes the place of others; low gives way until it begins; low-preempt always gives way")
	fs.StringVar(&task.Reason, "reason", "", "why, for people")
	_ = cmd.RegisterFlagCompletionFunc("priority", cobra.FixedCompletions([]string{"high", "low", "low-preempt"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func reservePoints(s shell.Session, ctx context.Context, task answer.NewTask) error {
	d, err := client.Do(ctx, s.Client, control.Reserve, task)
	if err != nil {
		return err
	}
	for _, h := range d.Lost {
		fmt.Fprintf(s.ErrOrStderr(), "the task %s of %s gives way\n", shell.Plain(h.Task), shell.Plain(h.Requester))
	}
	return nil
}

// NewCancel returns the command "cancel".
func NewCancel(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <task>", Short: "End a reservation, and the commands made under it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				_, err := client.Do(ctx, s.Client, control.Cancel, control.Task{Task: args[0]})
				return err
			})
		},
	}
}

// NewSchedule returns the command "schedule".
func NewSchedule(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var from, to string
	cmd := &cobra.Command{
		Use: "schedule [<path>]", Short: "List reservations", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, control.Tasks, control.Span{Path: path, From: operation.Time(from), To: operation.Time(to)})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "task", "path", "from", "to", "priority", "requester", "reason")
				if err != nil {
					return err
				}
				for i := range list.Tasks {
					t := &list.Tasks[i]
					for _, w := range t.Windows {
						err = errors.Join(err, rows.Row(t.Task, w.Path, w.From, w.To, t.Priority, t.Requester, t.Reason))
					}
				}
				return errors.Join(err, rows.End())
			})
		},
	}
	out.Register(cmd)
	cmd.Flags().StringVar(&from, "from", "", "only those that end after this time, such as now")
	cmd.Flags().StringVar(&to, "to", "", "only those that begin before this time, such as now+1d")
	return cmd
}

// NewOverride returns the command "override".
func NewOverride(f *shell.Flags) *cobra.Command {
	var o answer.NewOverride
	var length time.Duration
	var out shell.Format
	cmd := &cobra.Command{
		Use: "override [<pattern>]", Short: "Override points, or list the overrides",
		Long: `Override points: no command reaches them until the override ends or is cleared. They keep
their values, and follow their commands again afterwards. With --failsafe their commands end and
they revert to their defaults first. Without a pattern the overrides are listed.`,
		Example: `  voltbus override 'site/ahu/**' --for 2h --reason "filter change"
  voltbus override clear 'site/ahu/**'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if len(args) == 0 {
					return listOverrides(s, ctx, &out)
				}
				o.Pattern, o.Length = args[0], length.Seconds()
				_, err := client.Do(ctx, s.Client, control.Override, o)
				return err
			})
		},
	}
	out.Register(cmd)
	fs := cmd.Flags()
	fs.DurationVar(&length, "for", 0, "how long, such as 2h; 0: until it is cleared")
	fs.StringVar(&o.Reason, "reason", "", "why, for people")
	fs.BoolVar(&o.Failsafe, "failsafe", false, "end every command of the points, and let them go back first")
	cmd.AddCommand(newOverrideClear(f))
	return cmd
}

func newOverrideClear(f *shell.Flags) *cobra.Command {
	all := false
	clearing := &cobra.Command{
		Use: "clear [<pattern>]", Short: "End an override, by its pattern as listed, or all", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return shell.Usage(errors.New("say the pattern of the override, as it is listed, or --all"))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if all {
					return clearOverrides(s, ctx)
				}
				_, err := client.Do(ctx, s.Client, control.ClearOverride, control.Pattern{Pattern: args[0]})
				return err
			})
		},
	}
	clearing.Flags().BoolVar(&all, "all", false, "every override, whoever made it")
	f.Where.Register(f.Where.Elsewhere(clearing))
	shell.StrictArgs(clearing)
	return clearing
}

// clearOverrides ends every override. One that has ended meanwhile is no error.
func clearOverrides(s shell.Session, ctx context.Context) error {
	list, err := client.Do(ctx, s.Client, control.Overrides, control.Nothing{})
	if err != nil {
		return err
	}
	for i := range list.Overrides {
		if _, failed := client.Do(ctx, s.Client, control.ClearOverride, control.Pattern{Pattern: list.Overrides[i].Path}); failed != nil && !fault.Is(failed, fault.NotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

func listOverrides(s shell.Session, ctx context.Context, out *shell.Format) error {
	list, err := client.Do(ctx, s.Client, control.Overrides, control.Nothing{})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "pattern", "requester", "from", "until", "reason")
	if err != nil {
		return err
	}
	for i := range list.Overrides {
		h := &list.Overrides[i]
		err = errors.Join(err, rows.Row(h.Path, h.Requester, shell.TimeText(h.From), shell.TimeText(h.Until), h.Reason))
	}
	return errors.Join(err, rows.End())
}

// NewApprove returns the command "approve".
func NewApprove(f *shell.Flags) *cobra.Command {
	var no bool
	var out shell.Format
	cmd := &cobra.Command{
		Use: "approve [<requester> <id>]", Short: "Approve a command that needs approval, or list such commands",
		Example: `  voltbus approve
  voltbus approve agent:tune 7YB2
  voltbus approve agent:tune 7YB2 --no`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return errors.New("give the requester and the id of the command, as they are listed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if len(args) == 0 {
					return listWaiting(s, ctx, &out)
				}
				agree := !no
				_, err := client.Do(ctx, s.Client, control.Approve, answer.Approval{Requester: args[0], ID: args[1], Agree: &agree})
				return err
			})
		},
	}
	out.Register(cmd)
	cmd.Flags().BoolVar(&no, "no", false, "refuse it")
	return cmd
}

func listWaiting(s shell.Session, ctx context.Context, out *shell.Format) error {
	list, err := client.Do(ctx, s.Client, control.Waiting, control.Nothing{})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "requester", "id", "point", "value", "level", "until", "reason")
	if err != nil {
		return err
	}
	for i := range list.Commands {
		c := &list.Commands[i]
		err = errors.Join(err, rows.Row(c.Requester, c.Command, c.Path, c.Value, c.Level, shell.TimeText(c.Until), c.Reason))
	}
	return errors.Join(err, rows.End())
}
