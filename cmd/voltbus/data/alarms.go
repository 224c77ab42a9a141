package data

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/alarms"
)

// NewAlarms returns the command "alarms".
func NewAlarms(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var page alarms.Page
	cmd := &cobra.Command{
		Use: "alarms", Short: "List alarms, acknowledge and shelve them",
		Long: `List the alarms of rules, agents and devices that are not normal: those that need an operator first, of these the
most urgent, of these the newest. The states are those of ISA-18.2 and IEC 62682. An alarm stays until it is over and
somebody has acknowledged it.`,
		Example: `  voltbus alarms
  voltbus alarms watch
  voltbus alarms acknowledge supply-high@site/ahu2/supply_temp --note 'on my way'
  voltbus alarms shelve supply-high@site/ahu2/supply_temp --for 8h --note 'valve is ordered'
  voltbus alarms history --point site/ahu2/supply_temp --from -12h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return listAlarms(s, ctx, page, &out) })
		},
	}
	cmd.Flags().IntVar(&page.Limit, "limit", 1000, "so many at most")
	out.Register(cmd)
	f.Where.Elsewhere(cmd)
	for _, sub := range []*cobra.Command{
		watchAlarms(f), shelveAlarm(f), alarmHistory(f), alarmRates(f),
		actOnAlarm(f, alarms.Acknowledge, "acknowledge", "Say that you have seen an alarm; if somebody else was first, this says who"),
		actOnAlarm(f, alarms.Reset, "reset", "Reset a latched alarm that is over and acknowledged"),
		actOnAlarm(f, alarms.Unshelve, "unshelve", "Have a shelved alarm annunciated again"),
		actOnAlarm(f, alarms.Remove, "remove", "Take an alarm out of service, until it is returned"),
		actOnAlarm(f, alarms.Restore, "return", "Return an alarm to service"),
	} {
		f.Where.Register(sub)
		f.Where.Elsewhere(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func listAlarms(s shell.Session, ctx context.Context, page alarms.Page, out *shell.Format) error {
	list, err := client.Do(ctx, s.Client, alarms.List, page)
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "priority", "state", "since", "alarm", "value", "text", "acknowledged by", "note")
	if err != nil {
		return err
	}
	for i := range list.Alarms {
		a := &list.Alarms[i]
		if err := rows.Row(a.Priority, a.State, a.Since.Format(time.RFC3339), a.ID, a.Now, a.Text, a.By, a.Note); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	if more := list.All - len(list.Alarms); more > 0 {
		fmt.Fprintf(s.ErrOrStderr(), "%d more, less urgent, are not listed; write a larger --limit\n", more)
	}
	return nil
}

// actOnAlarm returns a command that does something to one alarm.
func actOnAlarm(f *shell.Flags, what operation.Operation[alarms.Act, operation.None], verb, short string) *cobra.Command {
	var act alarms.Act
	cmd := &cobra.Command{
		Use: verb + " <alarm>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			act.Alarm = args[0]
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return client.Tell(ctx, s.Client, what, act) })
		},
	}
	cmd.Flags().StringVar(&act.Note, "note", "", "why, for those who come later")
	return cmd
}

func shelveAlarm(f *shell.Flags) *cobra.Command {
	var in alarms.Shelving
	var length time.Duration
	cmd := &cobra.Command{
		Use: "shelve <alarm>", Short: "Keep an alarm from being annunciated for a time", Args: cobra.ExactArgs(1),
		Long: `Keep an alarm from being annunciated for a time, at most 31 days. It stays in the list. If its condition holds when the
time is over, it is annunciated anew.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Alarm, in.Seconds = args[0], length.Seconds()
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return client.Tell(ctx, s.Client, alarms.Shelve, in) })
		},
	}
	cmd.Flags().DurationVar(&length, "for", time.Hour, "how long, such as 8h")
	cmd.Flags().StringVar(&in.Note, "note", "", "why, for those who come later")
	return cmd
}

// changeColumns are the columns of changes of alarms.
var changeColumns = []string{"time", "alarm", "event", "state", "by", "value", "note", "text"}

func changeRow(rows shell.Rows, c *alarms.AlarmChange) error {
	return rows.Row(c.Time.Format(time.RFC3339), c.Alarm, c.Event, c.To, c.By, c.Value, c.Note, c.Text)
}

func alarmHistory(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var in alarms.Query
	cmd := &cobra.Command{
		Use: "history", Short: "List how alarms changed, and who did what, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, alarms.History, in)
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), changeColumns...)
				for i := range list.Changes {
					if err == nil {
						err = changeRow(rows, &list.Changes[i])
					}
				}
				if err != nil {
					return err
				}
				return rows.End()
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&in.Alarm, "alarm", "", "only of this alarm")
	fs.StringVar(&in.Rule, "rule", "", "only of this rule")
	fs.StringVar(&in.Point, "point", "", "only of this point")
	fs.StringVar((*string)(&in.From), "from", "", "a time, or how long ago, such as -12h")
	fs.StringVar((*string)(&in.To), "to", "", "a time, or how long ago")
	fs.IntVar(&in.Limit, "limit", 100, "so many at most")
	out.Register(cmd)
	return cmd
}

// watchEvery is how often alarms that are watched are asked for.
const watchEvery = time.Second

// mostWatched is how many changes are asked for at once.
const mostWatched = 1000

func watchAlarms(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "watch", Short: "Print changes of alarms as they happen, until interrupted", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				rows, err := out.Open(s.OutOrStdout(), changeColumns...)
				if err != nil {
					return err
				}
				return watchChanges(ctx, s, rows)
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func watchChanges(ctx context.Context, s shell.Session, rows shell.Rows) error {
	newest, err := client.Do(ctx, s.Client, alarms.History, alarms.Query{Limit: 1})
	if err != nil {
		return err
	}
	last := 0
	if len(newest.Changes) > 0 {
		last = newest.Changes[0].Number
	}
	if err := rows.End(); err != nil {
		return err
	}
	clock := time.NewTicker(watchEvery)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
		if last, err = printSince(ctx, s, rows, last); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// printSince prints the changes after one, oldest first, and returns the number of the last.
func printSince(ctx context.Context, s shell.Session, rows shell.Rows, last int) (int, error) {
	var fresh []alarms.AlarmChange
	for before := 0; ; {
		list, err := client.Do(ctx, s.Client, alarms.History, alarms.Query{Limit: mostWatched, Before: before})
		if err != nil {
			return last, err
		}
		for i := range list.Changes {
			if list.Changes[i].Number > last {
				fresh = append(fresh, list.Changes[i])
			}
		}
		before = list.Next
		if n := len(list.Changes); before == 0 || list.Changes[n-1].Number <= last+1 {
			break
		}
	}
	for i := len(fresh) - 1; i >= 0; i-- {
		if err := changeRow(rows, &fresh[i]); err != nil {
			return last, err
		}
		last = fresh[i].Number
	}
	return last, rows.End()
}

func alarmRates(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var in alarms.Time
	cmd := &cobra.Command{
		Use: "rates", Short: "Report how many alarms operators had to attend to, as ISA-18.2 counts", Args: cobra.NoArgs,
		Long: `Report how many alarms operators had to attend to: a line with the average an hour (about 6 are acceptable, 12 can just
be attended to), the most within ten minutes and the part of the time in flood, then the ten most frequent alarms, those that
chatter (three times or more within a minute), and those that have been active for more than a day.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				r, err := client.Do(ctx, s.Client, alarms.RatesOf, in)
				if err != nil {
					return err
				}
				return printRates(s, &r, &out)
			})
		},
	}
	cmd.Flags().StringVar((*string)(&in.From), "from", "", "a time, or how long ago; a week before --to if left out")
	cmd.Flags().StringVar((*string)(&in.To), "to", "", "a time, or how long ago; now if left out")
	out.Register(cmd)
	return cmd
}

func printRates(s shell.Session, r *alarms.AlarmRates, out *shell.Format) error {
	rows, err := out.Open(s.OutOrStdout(), "what", "alarm", "times", "share", "most a minute", "text")
	if err != nil {
		return err
	}
	fmt.Fprintf(s.ErrOrStderr(), "%d alarms from %s to %s: %.1f an hour, at most %d within ten minutes, in flood %.1f %% of the time\n",
		r.Alarms, r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), r.PerHour, r.Peak, 100*r.Flood)
	for _, group := range []struct {
		what string
		list []alarms.AlarmCount
	}{{"top", r.Top}, {"chattering", r.Chattering}, {"standing", r.Standing}} {
		for i := range group.list {
			c := &group.list[i]
			if err := rows.Row(group.what, c.Alarm, c.Times, c.Share, c.Most, c.Text); err != nil {
				return err
			}
		}
	}
	return rows.End()
}
