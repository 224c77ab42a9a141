package data

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/cmd/voltbus/shell"
	"voltbus/internal/plural"
)

// NewHealth returns the command "health".
func NewHealth(f *shell.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "health", Aliases: []string{"overview"}, Short: "Show the health of the node and its problems", Args: cobra.NoArgs,
		Long: `Show the health of a node: devices that do not answer, data that is not recorded, commands that are not executed, open
alarms, agents that do not work, pending approvals, destinations and nodes that are behind, the critical ones first. The
overview of the page, its menu, /api/v1/health and the metrics count the same.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				h, err := s.Client.Health(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return json.NewEncoder(cmd.OutOrStdout()).Encode(h)
				}
				return printHealth(cmd, &h)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printHealth(cmd *cobra.Command, h *answer.Health) error {
	word := cmp.Or(h.Verdict, h.Status)
	if n := len(h.Concerns); n > 0 {
		word += " (" + plural.Of(n, "concern") + ")"
	}
	cmd.Printf("%s: %s\n", word, shell.Plain(h.Summary))
	if len(h.Concerns) == 0 {
		return nil
	}
	cmd.Println()
	var out shell.Format
	out.Name = "table"
	rows, err := out.Open(cmd.OutOrStdout(), "SEVERITY", "PART", "SINCE", "CONCERN")
	if err != nil {
		return err
	}
	for i := range h.Concerns {
		c, since := &h.Concerns[i], ""
		if c.Since != nil {
			since = c.Since.Format(time.RFC3339)
		}
		if err := rows.Row(c.Severity, c.Part, since, c.Sentence); err != nil {
			return err
		}
	}
	return rows.End()
}
