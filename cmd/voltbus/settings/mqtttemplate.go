package settings

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/mqtt"
)

var (
	errNoProposal = errors.New("no template can be proposed for its messages; write one, and give it with --file")
	errNoMessages = errors.New("is not among the topics without a template; voltbus mqtt unknown lists them")
)

func newMQTTTemplate(f *shell.Flags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "template [<topic>]", Short: "Add the proposed template of a topic, or one of a file", Args: cobra.MaximumNArgs(1),
		Long: `Add a template to mqtt.templates of the configuration file: the proposed one of a topic that "voltbus mqtt unknown" lists, or an
entry in YAML of a file. Messages that arrive from then on become points by it; the node need not be restarted.`,
		Example: `  voltbus mqtt template thermostats/hall/firmware
  voltbus mqtt unknown --propose > new.yaml
  voltbus mqtt template --file new.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (file == "") == (len(args) == 0) {
				return fault.E("voltbus", fault.Invalid, "template", errors.New("write either a topic or --file"))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				text, err := templateText(ctx, cmd, s, file, strings.Join(args, ""))
				if err != nil {
					return err
				}
				done, err := client.Do(ctx, s.Client, configuration.AddTemplate, configuration.Template{Template: text})
				for _, words := range done.Changes.Words {
					cmd.Println(words)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "a file with one entry of mqtt.templates in YAML; - is the standard input")
	return cmd
}

// templateText returns the template to add, in YAML.
func templateText(ctx context.Context, cmd *cobra.Command, s shell.Session, file, topic string) (string, error) {
	switch file {
	case "":
		return proposalOf(ctx, s, topic)
	case "-":
		text, err := io.ReadAll(cmd.InOrStdin())
		return string(text), err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fault.E("voltbus", fault.Invalid, file, errors.Unwrap(err))
	}
	return string(text), nil
}

// proposalOf returns the proposed template for a topic.
func proposalOf(ctx context.Context, s shell.Session, topic string) (string, error) {
	list, err := client.Do(ctx, s.Client, mqtt.Unknown, operation.None{})
	if err != nil {
		return "", err
	}
	for _, u := range list.Topics {
		if u.Topic != topic {
			continue
		}
		if u.Proposal == "" {
			return "", fault.E("voltbus", fault.Invalid, topic, errNoProposal)
		}
		return u.Proposal, nil
	}
	return "", fault.E("voltbus", fault.NotFound, topic, errNoMessages)
}
