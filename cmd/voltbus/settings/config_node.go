package settings

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/configuration"
)

func newConfigShow(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the configuration file of a running node", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				c, err := client.Do(ctx, s.Client, configuration.Get, configuration.Nothing{})
				if err == nil {
					s.Print(c.Text)
				}
				return err
			})
		},
	}
}

func newConfigApply(f *shell.Flags) *cobra.Command {
	var bound time.Duration
	cmd := &cobra.Command{
		Use: "apply <file>", Short: "Replace the configuration file of a running node, - for standard input", Args: cobra.ExactArgs(1),
		Long: `Replace the configuration file of a running node, and apply it. Another node (--node) applies it on
trial: if it is not reached and confirmed within --confirm, or if it is killed before, it restores the
previous configuration by itself, and reports this in its audit log and in "voltbus nodes". Changes that
need a restart cannot be tried, and are refused for another node.`,
		Example: `  voltbus config show --node plant-1 > plant-1.yaml
  voltbus config apply plant-1.yaml --node plant-1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readText(cmd, args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return fault.E("voltbus", fault.Invalid, args[0], errors.New("is empty; to remove all devices, leave the other sections there"))
			}
			if bound < time.Second || bound > time.Hour {
				return shell.Usage(errors.New("--confirm is a time from 1s to 1h"))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return applyConfig(s, ctx, text, bound, f.Where.Node != "")
			})
		},
	}
	cmd.Flags().DurationVar(&bound, "confirm", time.Minute, "how long another node may stay out of reach before it goes back")
	return cmd
}

func applyConfig(s shell.Session, ctx context.Context, text string, bound time.Duration, elsewhere bool) error {
	found, err := client.Do(ctx, s.Client, configuration.Check, configuration.Text{Text: &text})
	if err != nil {
		return err
	}
	if err := complain(s.Command, found.Problems); err != nil {
		return err
	}
	now, err := client.Do(ctx, s.Client, configuration.Get, configuration.Nothing{})
	if err != nil {
		return err
	}
	change := configuration.Change{Text: &text, Version: now.Version}
	if elsewhere {
		seconds := bound.Seconds()
		change.Confirm = &seconds
	}
	applied, err := client.Do(ctx, s.Client, configuration.Apply, change)
	if err != nil {
		return err
	}
	showApplied(s, &applied)
	return nil
}

func showApplied(s shell.Session, a *answer.ConfigApplied) {
	s.Printf("version %s is applied\n", a.Version)
	for _, word := range a.Changes.Words {
		s.Println("  " + shell.Plain(word))
	}
}

// ReloadElsewhere makes another node read its configuration again.
func ReloadElsewhere(f *shell.Flags, cmd *cobra.Command) error {
	return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
		applied, err := client.Do(ctx, s.Client, configuration.Reload, configuration.Nothing{})
		if err == nil {
			showApplied(s, &applied)
		}
		return err
	})
}
