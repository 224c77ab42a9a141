package settings

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/tokens"
)

func newTokenOwn(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "own", Short: "Manage tokens for programs that act in your own name",
		Long: `Manage tokens for programs that act in your own name, with your role or a lower one: in that of the
local administrator on the node's machine, else of the person whose token --token-file or VOLTBUS_TOKEN
holds. The page makes a person's first one. Who loses a role or is removed takes them along.`,
	}
	for _, sub := range []*cobra.Command{newTokenOwnCreate(f), newTokenOwnList(f), newTokenOwnRevoke(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newTokenOwnCreate(f *shell.Flags) *cobra.Command {
	var role, expires string
	cmd := &cobra.Command{
		Use: "create <name>", Short: "Create a token and show it, only once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r, ok := identity.ParseRole(role); !ok || r == identity.Nobody {
				return fault.E("voltbus", fault.Invalid, "--role", fmt.Errorf("%q must be viewer, operator, engineer or administrator", role))
			}
			end, err := EndOf(expires, time.Now())
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				in := tokens.Own{Name: args[0], Role: role}
				if !end.IsZero() {
					in.Expires = end.Format(time.RFC3339Nano)
				}
				t, err := client.Do(ctx, s.Client, tokens.IssueOwn, in)
				if err == nil {
					cmd.Println(t.Token)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "viewer", "the most it may do: viewer, operator, engineer or administrator")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: a time such as 90d or 12h from now, or 2027-01-31T12:00:00Z; default: never")
	return cmd
}

var daysOrHours = regexp.MustCompile(`^([1-9][0-9]{0,4})([dh])$`)

// EndOf parses the expiry of a token; the zero time for "".
func EndOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if m := daysOrHours.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // the expression permits only a few digits
		if m[2] == "d" {
			return now.AddDate(0, 0, n), nil
		}
		return now.Add(time.Duration(n) * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.E("voltbus", fault.Invalid, "--expires", fmt.Errorf("%q must be a time such as 90d, 12h or 2027-01-31T12:00:00Z", text))
	}
	return t, nil
}

func newTokenOwnList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List your own tokens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, tokens.ListOwn, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "id", "name", "role", "created", "expires")
				if err != nil {
					return err
				}
				for _, t := range list.Tokens {
					expires := "never"
					if t.Expires != nil {
						expires = t.Expires.Format(time.RFC3339)
					}
					if err := rows.Row(t.ID, t.Name, t.Role, t.Created.Format(time.RFC3339), expires); err != nil {
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

func newTokenOwnRevoke(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke <id>", Short: "Revoke one of your own tokens, at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, tokens.RevokeOwn, tokens.ID{ID: args[0]})
			})
		},
	}
}
