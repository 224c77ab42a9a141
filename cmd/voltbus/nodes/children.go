package nodes

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/agents"
	"voltbus/cmd/voltbus/shell"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/children"
)

// NewChildren returns the command "children".
func NewChildren(f *shell.Flags) *cobra.Command {
	cmd := newChildrenList(f)
	cmd.Use, cmd.Short = "children", "List the nodes that send their data here, approve and revoke them"
	cmd.Long = `List the nodes that send their data here, approve and revoke them. Before you approve one, compare
the fingerprint of its key with what voltbus join or voltbus uplink status shows there.`
	cmd.Example = `  voltbus children
  voltbus children approve plant-1
  voltbus children grant plant-1 read 'weather/**'`
	list := newChildrenList(f)
	f.Where.Register(cmd)
	subs := []*cobra.Command{
		list, newChildrenShow(f),
		newChildrenDecide(f, "approve", "Let a node in that waits, or that was shut out; renew a bundle that has expired, for 30 days", "is approved"),
		newChildrenDecide(f, "deny", "Refuse a node that waits", "is denied"),
		newChildrenDecide(f, "revoke", "Shut a node out, at once; one that is away hears it when it returns", "is shut out"),
		newChildrenGrant(f, "grant", "Allow a node more here, at once"), newChildrenGrant(f, "ungrant", "Allow a node less here, at once"),
		newChildrenConfine(f), newChildrenRemove(f),
	}
	for _, sub := range subs {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newChildrenList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, children.List, struct{}{})
				if err != nil {
					return err
				}
				r, err := out.Open(cmd.OutOrStdout(), "name", "state", "fingerprint", "prefix", "online", "version", "joined", "by", "refusal", "expires")
				if err != nil {
					return err
				}
				for _, c := range list.Children {
					err := r.Row(c.Name, c.State, c.Print, c.Prefix, c.Online != nil, c.Version, c.Joined.Format(time.RFC3339), c.By, c.Refusal, bundleEnd(&c))
					if err != nil {
						return err
					}
				}
				return r.End()
			})
		},
	}
	out.Register(cmd)
	return cmd
}

// bundleEnd describes until when the bundle of a node can be used, or since when it has expired.
func bundleEnd(c *answer.Child) string {
	switch {
	case c.Expires == nil:
		return ""
	case c.State == answer.ChildExpired:
		return "unused; expired " + c.Expires.Local().Format(time.DateTime)
	}
	return "unused; expires " + c.Expires.Local().Format(time.DateTime)
}

func newChildrenShow(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "show <name>", Short: "Show everything about a node, as JSON", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				c, err := client.Do(ctx, s.Client, children.Get, children.Node{Name: args[0]})
				if err != nil {
					return err
				}
				return shell.PrintJSON(cmd, c)
			})
		},
	}
}

func newChildrenDecide(f *shell.Flags, decision, short, done string) *cobra.Command {
	return &cobra.Command{
		Use: decision + " <name>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				c, err := s.DecideChild(ctx, args[0], decision)
				if err == nil {
					cmd.Printf("%s %s; the fingerprint of its key is %s\n", c.Name, done, c.Print)
				}
				if err == nil && c.Expires != nil {
					cmd.Printf("its bundle was not used yet, and can be until %s\n", c.Expires.Local().Format(time.DateTime))
				}
				return err
			})
		},
	}
}

func newChildrenGrant(f *shell.Flags, verb, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " <name> <capability> <for what> ...", Short: short, Args: cobra.MinimumNArgs(3),
		Long: short + ". What it records and publishes below its prefix it always may.\n\n" +
			strings.Join(strings.Split(agents.CapabilityHelp, "\n")[:8], "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := agents.Capabilities(args[1], args[2:])
			if err != nil {
				return err
			}
			grant, withdraw := g, identity.Grants{}
			if verb == "ungrant" {
				grant, withdraw = withdraw, grant
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				c, err := client.Do(ctx, s.Client, children.Regrant, children.Grants{Node: children.Node{Name: args[0]}, Regranting: operation.Regranting{Grant: grant, Withdraw: withdraw}})
				return agents.ShowGrants(cmd, false)(c.Grants, err)
			})
		},
	}
}

func newChildrenConfine(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "confine <name> <prefix>", Short: `Accept points of a child only under a path, at once; "" for anywhere`, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				_, err := client.Do(ctx, s.Client, children.Confine, children.Prefix{Node: children.Node{Name: args[0]}, Prefix: args[1]})
				return err
			})
		},
	}
}

func newChildrenRemove(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "remove <name>", Short: "Remove a node: its name becomes free, its key is refused, its data stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, children.Remove, children.Node{Name: args[0]})
			})
		},
	}
}
