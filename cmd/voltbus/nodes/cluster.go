package nodes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/cluster"
	"voltbus/operation/cluster/report"
)

// NewCluster returns the command "cluster".
func NewCluster(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cluster", Short: "Look at the replicas of a node, and change which there are",
		Long: `Look at the replicas of a node, and change which there are. Replicas are listed in the section cluster of the
configuration; docs/guides/replicas.md tells how they are started.`,
		Example: "  voltbus cluster status",
	}
	for _, sub := range []*cobra.Command{newClusterStatus(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newClusterStatus(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "status", Short: "Tell how each replica is, and whether anything that was acknowledged is lost", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				got, err := client.Do(ctx, s.Client, cluster.Status, operation.None{})
				if err != nil {
					return err
				}
				if err := listReplicas(cmd, &out, &got); err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), shell.PlainLines(strings.TrimSpace(got.Sentence+"\n"+got.Ledger)))
				return err
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func listReplicas(cmd *cobra.Command, out *shell.Format, got *report.Cluster) error {
	rows, err := out.Open(cmd.OutOrStdout(), "replica", "address", "state", "reached", "since", "version", "clients", "leader", "last_block", "log_bytes", "acknowledged", "behind", "disk_free", "note")
	if err != nil {
		return err
	}
	for i := range got.Replicas {
		r := &got.Replicas[i]
		err := rows.Row(r.Name, r.Address, r.State, r.Reached, r.Since.Format(time.RFC3339), r.Version, r.Clients, r.Log.Leader, r.Log.Last, r.Log.Bytes,
			r.Log.Acknowledged, lacking(r), r.Disk, r.Note)
		if err != nil {
			return err
		}
	}
	return rows.End()
}

// lacking says which other replicas lack something that a replica recorded.
func lacking(r *report.Replica) string {
	var list []string
	for _, c := range r.Copies {
		if c.Samples > 0 || c.Behind > 0 {
			list = append(list, fmt.Sprintf("%s: %d samples, %d blocks, %.1f s", c.Replica, c.Samples, c.Blocks, c.Seconds))
		}
	}
	return strings.Join(list, "; ")
}
