package settings

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/people"
)

// NewUser returns the command "user".
func NewUser(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "user", Short: "Manage people, their roles and passwords",
		Long: `Manage people, their roles and passwords: a viewer sees, an operator also commands, an engineer also
configures devices, an administrator also admits people.`,
	}
	for _, sub := range []*cobra.Command{newUserAdd(f), newUserList(f), newUserRemove(f), newUserPassword(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// passwordFlag is the source of a password.
func passwordFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "password-file", "", "file whose first line is the password, - for standard input; default: asked for")
	_ = cmd.MarkFlagFilename("password-file")
}

func newUserAdd(f *shell.Flags) *cobra.Command {
	var role, file string
	cmd := &cobra.Command{
		Use: "add <name>", Short: "Add a person, or change a role", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := identity.ParseRole(role); !ok {
				return fault.E("voltbus", fault.Invalid, "--role", fmt.Errorf("%q must be viewer, operator, engineer or administrator", role))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				password := ""
				if _, known, err := personOf(s, ctx, args[0]); err != nil {
					return err
				} else if !known || cmd.Flags().Changed("password-file") {
					if password, err = readPassword(cmd, file); err != nil {
						return err
					}
				}
				p, err := client.Do(ctx, s.Client, people.Set, people.Change{Person: people.Person{Name: args[0]}, Role: role, Password: password})
				if err == nil {
					cmd.Printf("%s is %s\n", p.Name, p.Role)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "viewer", "viewer, operator, engineer or administrator")
	passwordFlag(cmd, &file)
	return cmd
}

func newUserPassword(f *shell.Flags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "password <name>", Short: "Set a person's password, and end the person's sessions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, known, err := personOf(s, ctx, args[0])
				if err != nil {
					return err
				}
				if !known {
					return fault.E("voltbus", fault.NotFound, args[0], errors.New("there is nobody of this name; see voltbus user list"))
				}
				password, err := readPassword(cmd, file)
				if err != nil {
					return err
				}
				_, err = client.Do(ctx, s.Client, people.Set, people.Change{Person: people.Person{Name: p.Name}, Role: p.Role, Password: password})
				return err
			})
		},
	}
	passwordFlag(cmd, &file)
	return cmd
}

// personOf finds a person by name.
func personOf(s shell.Session, ctx context.Context, name string) (answer.Person, bool, error) {
	list, err := client.Do(ctx, s.Client, people.List, struct{}{})
	i := slices.IndexFunc(list.People, func(p answer.Person) bool { return strings.EqualFold(p.Name, strings.TrimSpace(name)) })
	if err != nil || i < 0 {
		return answer.Person{}, false, err
	}
	return list.People[i], true, nil
}

func newUserList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List people who may log in", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, people.List, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "name", "role", "password", "tokens", "created")
				if err != nil {
					return err
				}
				for _, p := range list.People {
					if err := rows.Row(p.Name, p.Role, p.Password, p.Tokens, p.Created.Format(time.RFC3339)); err != nil {
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

func newUserRemove(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "remove <name>", Short: "Remove a person, with all tokens and sessions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, people.Remove, people.Person{Name: args[0]})
			})
		},
	}
}

const maxPasswordLine = 4 << 10

// readPassword reads a password from the file, or asks the person at the terminal twice.
func readPassword(cmd *cobra.Command, file string) (string, error) {
	switch file {
	case "":
		return askPassword(cmd)
	case "-":
		return firstLine(cmd.InOrStdin())
	}
	f, err := os.Open(file)
	if err != nil {
		return "", shell.Usage(fmt.Errorf("read the password: %w", err))
	}
	defer f.Close()
	return firstLine(f)
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", shell.Usage(fmt.Errorf("read the password: %w", err))
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func askPassword(cmd *cobra.Command) (string, error) {
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		return "", shell.Usage(errors.New("there is no terminal to ask for the password; use --password-file, with - for standard input"))
	}
	var texts [2]string
	for i, prompt := range []string{"Password: ", "Again: "} {
		fmt.Fprint(cmd.ErrOrStderr(), prompt)
		b, err := term.ReadPassword(in)
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", shell.Usage(fmt.Errorf("read the password: %w", err))
		}
		texts[i] = string(b)
	}
	if texts[0] != texts[1] {
		return "", shell.Usage(errors.New("the two passwords differ; try again"))
	}
	return texts[0], nil
}
