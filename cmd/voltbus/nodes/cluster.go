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
		Example: `  voltbus cluster status
  voltbus cluster add broker-4 10.0.0.4:6222
  voltbus cluster drain broker-1
  voltbus cluster remove broker-1`,
	}
	for _, sub := range []*cobra.Command{newClusterStatus(f), newClusterAdd(f), newClusterRemove(f), newClusterDrain(f)} {
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

func newClusterAdd(f *shell.Flags) *cobra.Command {
	witness := false
	cmd := &cobra.Command{
		Use: "add <name> <address>", Short: "Add a replica while the others run, give one another address, or keep one that is leaving", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				err := client.Tell(ctx, s.Client, cluster.Add, cluster.NewReplica{Replica: cluster.Replica{Name: args[0]}, Address: args[1], Witness: witness})
				if err == nil {
					cmd.Println(args[0] + " joins when it starts with a configuration that lists all replicas")
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&witness, "witness", false, "it only has the logs and counts for the majority; its configuration must say so, too (cluster.replicas)")
	return cmd
}

func newClusterRemove(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "remove <name>", Short: "Remove a replica while the others run, and wait until nothing depends on it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				cmd.PrintErrln("wait until the logs are at the others without " + args[0])
				err := client.Tell(ctx, s.Client, cluster.Remove, cluster.Replica{Name: args[0]})
				if err == nil {
					cmd.Println(args[0] + " is no replica any more, and acknowledges nothing: stop it")
				}
				return err
			})
		},
	}
}

func newClusterDrain(f *shell.Flags) *cobra.Command {
	undo := false
	cmd := &cobra.Command{
		Use: "drain <name>", Short: "Send the MQTT clients of a replica to the others and give them its devices, so that it may be stopped", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				err := client.Tell(ctx, s.Client, cluster.Drain, cluster.Draining{Replica: cluster.Replica{Name: args[0]}, Undo: undo})
				switch {
				case err != nil:
					return err
				case undo:
					cmd.Println(args[0] + " takes clients again")
				default:
					cmd.Println(args[0] + " may be stopped when voltbus cluster status says that it is drained")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "let it take clients again; a restart does so, too")
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
