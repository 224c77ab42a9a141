package meters

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
)

func newCluster(f *Program) *cobra.Command {
	var open table
	forwards := false
	cmd := &cobra.Command{
		Use: "cluster", Short: "Show the account of the metering cluster: what each member accepted, keeps, forwarded and stored", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				got, err := client.Do(ctx, c, metering.ClusterStatus, metering.Nothing{})
				if err != nil {
					return err
				}
				if got.Cluster == nil {
					return fault.E("voltbus", fault.Unavailable, "cluster", errNoCluster)
				}
				if forwards {
					return listForwards(cmd, open, &got)
				}
				return listMembers(cmd, open, &got)
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().BoolVar(&forwards, "forwards", false, "list what each member forwards to each other")
	return cmd
}

var errNoCluster = errors.New("this node is in no cluster: list its members in metering.cluster.members")

func listMembers(cmd *cobra.Command, open table, got *account.MeterCluster) error {
	rows, err := open(cmd.OutOrStdout(), "member", "state", "meters", "accepted", "kept", "forwarded", "waiting", "refused", "received", "stored", "strays", "error")
	if err != nil {
		return err
	}
	said := map[string]*account.MeterMember{}
	for i := range got.Members {
		said[got.Members[i].Name] = &got.Members[i]
	}
	for _, m := range got.Cluster.Members {
		a := said[m.Name]
		if a == nil {
			err = rows.Row(m.Name, "away", "", "", "", "", "", "", "", "", "", m.Error)
		} else {
			var sent, waiting, refused uint64
			for _, f := range a.Forwards {
				sent, waiting, refused = sent+f.Sent, waiting+f.Waiting, refused+f.Refused
			}
			err = rows.Row(m.Name, "ready", a.Meters, a.Accepted, a.Kept, sent, waiting+a.Unstored, refused, a.Received, a.Stored, a.Strays, "")
		}
		if err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	s, balanced := &got.Sum, "the account balances"
	if !got.Balanced {
		balanced = "the account does not balance yet, or a member does not answer"
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d accepted, kept by %d each: %d stored + %d waiting + %d refused; %d samples lost; %s\n",
		s.Accepted, got.Copies, s.Stored, s.Waiting, s.Refused, s.Lost, balanced)
	return err
}

func listForwards(cmd *cobra.Command, open table, got *account.MeterCluster) error {
	rows, err := open(cmd.OutOrStdout(), "from", "to", "state", "total", "sent", "refused", "waiting", "oldest", "rate", "reason")
	if err != nil {
		return err
	}
	for i := range got.Members {
		for _, f := range got.Members[i].Forwards {
			if err := rows.Row(got.Members[i].Name, f.To, f.State, f.Total, f.Sent, f.Refused, f.Waiting, written(f.Oldest), f.Rate, f.Reason); err != nil {
				return err
			}
		}
	}
	return rows.End()
}

// warn reports which members of a cluster are missing from an answer.
func warn(cmd *cobra.Command, told *answer.MeterAnswered) {
	if told == nil || told.Complete {
		return
	}
	for _, m := range told.Members {
		if !m.Answered {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "incomplete: the member %s of the cluster does not answer: %s\n", m.Name, m.Error)
		}
	}
}
