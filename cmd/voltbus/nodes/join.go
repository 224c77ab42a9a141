package nodes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/parent"
)

// mostCode is how much of standard input is read for a code.
const mostCode = 8 << 10

// NewJoin returns the command "join".
func NewJoin(f *shell.Flags) *cobra.Command {
	var name string
	var wait bool
	cmd := &cobra.Command{
		Use: "join [code]", Short: "Send this node's data to another one, with the code that voltbus invite made there", Args: cobra.MaximumNArgs(1),
		Long: `Send this node's data to another one, its parent, with the code that voltbus invite made there. Without
the code, or with - instead, it is read from standard input, where the list of processes does not show it.

This node makes a new key, verifies that it talks to the node of the code, and sends its request. It is connected at
once if the code is already approved, otherwise after the approval there. It works whether this node runs or not. A
join that failed can be repeated.`,
		Example: `  voltbus join < code.txt
  voltbus join --name plant-2 --wait`,
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := readCode(cmd, args)
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := client.Do(ctx, s.Client, parent.Join, parent.Code{Code: code, Name: name})
				if err != nil {
					return err
				}
				cmd.Printf("%s is the parent of this node, which it calls %s; the fingerprint of the key is %s\n", shell.Plain(p.Parent), shell.Plain(p.Name), p.Key)
				if p.State == "pending" && wait {
					cmd.Println("waiting until somebody approves it there: voltbus children")
					p, err = awaitApproval(ctx, s)
				}
				if err != nil {
					return err
				}
				return showStanding(cmd, &p)
			})
		},
	}
	f.Where.Register(cmd)
	cmd.Flags().StringVar(&name, "name", "", "what this node wants to be called there; default: what the code says, or its own name")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until somebody approved or denied it")
	return cmd
}

// readCode returns the code from the command line, or from standard input.
func readCode(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		return args[0], nil
	}
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); ok && shell.Terminal(file) {
		cmd.PrintErrln("Paste the code:")
	}
	line, err := bufio.NewReader(io.LimitReader(in, mostCode)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the code: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", shell.Usage(errCodeless)
	}
	return line, nil
}

// awaitApproval asks until the parent has decided.
func awaitApproval(ctx context.Context, s shell.Session) (answer.Parent, error) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := client.Do(ctx, s.Client, parent.Get, struct{}{})
		if err != nil || p.State != "pending" {
			return p, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return p, fault.E("voltbus", fault.KindOf(ctx.Err()), "", ctx.Err())
		}
	}
}

// showStanding prints the state of this node's membership.
func showStanding(cmd *cobra.Command, p *answer.Parent) error {
	switch p.State {
	case "approved":
		cmd.Println("approved")
	case "pending":
		cmd.Println("it waits for approval there: voltbus children approve", shell.Plain(p.Name))
	default:
		return fault.E("voltbus", fault.Refused, p.Parent, fmt.Errorf("%s", p.Why))
	}
	return nil
}

// NewLeave returns the command "leave".
func NewLeave(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "leave", Short: "Leave the parent, and remove its address and this node's key for it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := client.Do(ctx, s.Client, parent.Get, struct{}{})
				if err == nil {
					err = client.Tell(ctx, s.Client, parent.Leave, struct{}{})
				}
				if err == nil {
					cmd.Printf("%s is forgotten; there, voltbus children remove %s makes the name free\n", shell.Plain(p.Parent), shell.Plain(p.Name))
				}
				return err
			})
		},
	}
	f.Where.Register(cmd)
	return cmd
}

// NewUplink returns the command "uplink".
func NewUplink(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{Use: "uplink", Short: "Show the connection to the parent, and change the key"}
	for _, sub := range []*cobra.Command{newUplinkStatus(f), newUplinkRotate(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newUplinkStatus(f *shell.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show the parent, the connection and the backlog", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := client.Do(ctx, s.Client, parent.Get, struct{}{})
				switch {
				case err != nil:
					return err
				case asJSON:
					return shell.PrintJSON(cmd, p)
				case !p.Member:
					cmd.Println("this node has no parent")
					return nil
				}
				prefix := p.Prefix
				if prefix == "" {
					prefix = "anywhere"
				}
				for _, line := range [][2]string{
					{"parent", p.Parent},
					{"addresses", strings.Join(p.Addresses, ", ")},
					{"its fingerprint", p.Fingerprint},
					{"calls this node", p.Name},
					{"takes points", prefix},
					{"state", p.State},
					{"because", p.Why},
					{"this node's key", p.Key},
				} {
					if line[1] != "" {
						cmd.Printf("%-16s %s\n", line[0], shell.Plain(line[1]))
					}
				}
				showUplink(cmd, p.Uplink)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "show JSON")
	return cmd
}

func newUplinkRotate(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Rotate the key; the parent then refuses the old one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := client.Do(ctx, s.Client, parent.Rotate, struct{}{})
				if err == nil {
					cmd.Printf("%s knows the new key, whose fingerprint is %s\n", shell.Plain(p.Parent), p.Key)
				}
				return err
			})
		},
	}
}
