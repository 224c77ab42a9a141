package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/settings"
	"voltbus/cmd/voltbus/shell"
	"voltbus/identity"
	"voltbus/operation/children"
)

// NewInvite returns the command "invite".
func NewInvite(f *shell.Flags) *cobra.Command {
	var wish client.NewInvitation
	var expires string
	var grants []string
	var picture, asJSON, quiet bool
	cmd := &cobra.Command{
		Use: "invite", Short: "Invite another node to send its data here: make a code for voltbus join", Args: cobra.NoArgs,
		Long: `Invite another node to send its data here. This makes a code for one node, which is shown once; enter it there with
voltbus join. Unless --approved is given, somebody here must then approve the node with voltbus
children approve.

Whoever has the code can join as that node, so treat it like a password. It contains the address and the fingerprint
of this node, so that no other node can impersonate it.`,
		Example: `  voltbus invite --prefix campus/b1
  voltbus invite --name plant-2 --approved --expires 7d --qr
  voltbus invite --prefix 'campus/{name}' --grant 'read weather/**' --address campus.example.org:4222`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			end, err := settings.EndOf(expires, time.Now())
			if err = errors.Join(err, shell.Apart(cmd, "quiet", "json"), shell.Apart(cmd, "quiet", "qr")); err != nil {
				return err
			}
			if !end.IsZero() {
				wish.Expires = &end
			}
			if wish.Grants, err = grantsOf(grants); err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				made, err := client.Do(ctx, s.Client, children.Invite, wish.Arguments())
				if err != nil {
					return err
				}
				switch {
				case asJSON:
					return shell.PrintJSON(cmd, made)
				case quiet:
					cmd.Println(made.Code)
					return nil
				}
				return showInvited(cmd, &made, picture)
			})
		},
	}
	f.Where.Register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&wish.Name, "name", "", "what the node is called here; default: it chooses")
	fs.StringVar(&wish.Prefix, "prefix", "", "path below which all its points must be; {name} stands for its name; default: anywhere")
	fs.StringArrayVar(&grants, "grant", nil, "what it may do here besides, such as 'read weather/**'; may be repeated")
	fs.StringVar(&expires, "expires", "", "when the code ends: a time such as 7d or 12h from now, or 2027-01-31T12:00:00Z; default: 24h")
	fs.BoolVar(&wish.Approved, "approved", false, "the node needs nobody's approval")
	fs.StringArrayVar(&wish.Addresses, "address", nil, "host:port where the node reaches the bus of this one; may be repeated; default: what this one knows")
	fs.BoolVar(&picture, "qr", false, "show the code as a QR code too")
	fs.BoolVarP(&quiet, "quiet", "q", false, "show the code and nothing else")
	fs.BoolVar(&asJSON, "json", false, "show JSON")
	for _, sub := range []*cobra.Command{newInviteList(f), newInviteCancel(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// grantsOf parses capabilities, each a string such as "read weather/**".
func grantsOf(list []string) (identity.Grants, error) {
	var g identity.Grants
	for _, text := range list {
		verb, object, _ := strings.Cut(strings.TrimSpace(text), " ")
		if object == "" && verb != "administer" {
			return g, shell.Usage(fmt.Errorf("--grant %q: write what it may do and for what, such as 'read weather/**'", text))
		}
		one, err := identity.ParseCapability(verb, strings.TrimSpace(object))
		if err != nil {
			return g, err
		}
		g = g.With(one)
	}
	return g, nil
}

func showInvited(cmd *cobra.Command, made *answer.Invited, picture bool) error {
	i := &made.Invitation
	who := "one node"
	if i.Name != "" {
		who = i.Name
	}
	cmd.Printf("Invitation %s for %s, until %s. On that node, run\n\n    voltbus join\n\nand paste this code:\n\n    %s\n\n",
		i.ID, who, i.Expires.Local().Format("2006-01-02 15:04"), made.Code)
	if picture {
		if len(made.QR) == 0 {
			return shell.Usage(errors.New("the code is too long for a QR code; give fewer addresses with --address"))
		}
		cmd.Print(drawQR(made.QR))
	}
	cmd.Printf("It says that this node is at %s.\n", strings.Join(made.Addresses, ", "))
	if !i.Approved {
		cmd.Println("When the node has asked, approve it: voltbus children")
	}
	return nil
}

// drawQR draws a picture with two rows per line, dark on light whatever the terminal's colours, with the
// margin that readers need.
func drawQR(rows []string) string {
	const margin = 4
	dark := func(y, x int) bool {
		y, x = y-margin, x-margin
		return y >= 0 && y < len(rows) && x >= 0 && x < len(rows[y]) && rows[y][x] == '1'
	}
	var b strings.Builder
	size := len(rows) + 2*margin
	for y := 0; y < size; y += 2 {
		b.WriteString("\x1b[30;107m")
		for x := range size {
			switch up, down := dark(y, x), dark(y+1, x); {
			case up && down:
				b.WriteString("█")
			case up:
				b.WriteString("▀")
			case down:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

func newInviteList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the invitations; those that ended stay for 30 days", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, children.Invitations, struct{}{})
				if err != nil {
					return err
				}
				r, err := out.Open(cmd.OutOrStdout(), "id", "state", "name", "prefix", "approved", "expires", "by", "used_by")
				if err != nil {
					return err
				}
				for _, i := range list.Invitations {
					if err := r.Row(i.ID, i.State, i.Name, i.Prefix, i.Approved, i.Expires.Format(time.RFC3339), i.By, i.UsedBy); err != nil {
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

func newInviteCancel(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <id>", Short: "Cancel an invitation code", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				i, err := client.Do(ctx, s.Client, children.Cancel, children.ID{ID: args[0]})
				if err == nil {
					cmd.Printf("invitation %s is cancelled\n", i.ID)
				}
				return err
			})
		},
	}
}

var errCodeless = errors.New("give the code of voltbus invite, or paste it to standard input")
