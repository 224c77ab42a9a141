package settings

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation/tokens"
)

var errTokenKind = errors.New("say what the token is for: --record makes one that can record readings and nothing else, --member one for a member of the metering cluster")

// NewToken returns the command "token".
func NewToken(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Manage tokens for programs",
		Long: `Give programs tokens that can record readings over HTTP and do nothing else, such as one for
Telegraf. Tokens for everything else act in somebody's own name: voltbus token own.`,
	}
	cmd.AddCommand(newTokenOwn(f))
	for _, sub := range []*cobra.Command{newTokenCreate(f), newTokenList(f), newTokenRevoke(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newTokenCreate(f *shell.Flags) *cobra.Command {
	var record, member bool
	var under string
	cmd := &cobra.Command{
		Use: "create <name>", Short: "Create a token and show it, only once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if record == member {
				return shell.Usage(errTokenKind)
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				t, err := client.Do(ctx, s.Client, tokens.Issue, tokens.Recorder{Name: args[0], Under: under, Member: member})
				if err == nil {
					cmd.Println(t.Token)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&record, "record", false, "the token can record readings and nothing else")
	cmd.Flags().BoolVar(&member, "member", false, "the token is for another member of the metering cluster, whose node has the name")
	cmd.Flags().StringVar(&under, "under", "", "path below which it may record; default: anywhere")
	return cmd
}

func newTokenList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the tokens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, tokens.List, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "name", "purpose", "under", "created")
				if err != nil {
					return err
				}
				for _, t := range list.Tokens {
					if err := rows.Row(t.Name, t.Purpose, t.Under, t.Created.Format(time.RFC3339)); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func newTokenRevoke(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke <name>", Short: "Revoke a token, at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, tokens.Revoke, tokens.Name{Name: args[0]})
			})
		},
	}
}
