package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/survey"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
)

const writeHelp = `Write a value to a property of an object, at a priority where the object is commanded, read it
back, and show both. --relinquish takes the command at the priority back. A point that a node commands is
commanded with voltbus set, which keeps the order of levels and takes commands back when they end.`

func newWrite() *cobra.Command {
	var f flags
	var priority int
	var relinquish bool
	cmd := &cobra.Command{
		Use: "write <object[.property]> [value]", Short: "Write or relinquish a property of an object", Long: writeHelp, Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := parseProperty(args[0])
			switch {
			case err != nil:
				return err
			case relinquish == (len(args) == 2):
				return shell.Usage(errors.New("write a value, or --relinquish without one"))
			case priority < 0 || priority > 16 || relinquish && priority == 0:
				return shell.Usage(errors.New("--priority: write 1, the most urgent, to 16; it is needed with --relinquish"))
			}
			text := ""
			if len(args) == 2 {
				text = args[1]
			}
			return f.with(cmd, func(ctx context.Context, d client.Remote) error {
				return writeTo(ctx, cmd, d, p, text, relinquish, uint8(priority))
			})
		},
	}
	f.registerDevice(cmd)
	cmd.Flags().IntVar(&priority, "priority", 0, "priority of the command, 1 to 16; none if left out, which devices take for 16")
	cmd.Flags().BoolVar(&relinquish, "relinquish", false, "take the command at the priority back")
	return shell.TakesNegatives(cmd)
}

func writeTo(ctx context.Context, cmd *cobra.Command, d client.Remote, p client.Property, text string, relinquish bool, priority uint8) error {
	before, err := d.ReadProperty(ctx, p)
	if err != nil {
		return err
	}
	v := encoding.Null()
	if !relinquish {
		if v, err = encode(p, text, before, survey.States(ctx, d, p.Object)); err != nil {
			return shell.Usage(err)
		}
	}
	d.Retries = -1
	if err := d.Write(ctx, p, v, priority); err != nil {
		return err
	}
	d.Retries = 0
	after, err := d.ReadProperty(ctx, p)
	if err != nil {
		return fmt.Errorf("it was written, but not read back: %w", err)
	}
	what := "wrote " + v.String()
	if relinquish {
		what = "relinquished"
	}
	if priority > 0 {
		what += fmt.Sprintf(" at priority %d", priority)
	}
	cmd.Printf("%v %v: was %s, %s, reads %s\n", p.Object, p.Property, valueText(p.Property, before), what, valueText(p.Property, after))
	return nil
}

// encode makes a value of the type that the property has.
func encode(p client.Property, text string, before encoding.Any, states []string) (encoding.Value, error) {
	item := pointlist.ItemOf(map[string]string{
		"name": "x", "object": p.Object.String(), "property": p.Property.String(), "states": strings.Join(states, "|"),
	})
	like, err := before.One()
	if err != nil {
		return encoding.Value{}, fmt.Errorf("%v %v is not a single value; write an element, such as %v.%v[1]", p.Object, p.Property, p.Object, p.Property)
	}
	if text == "active" || text == "inactive" {
		text = map[string]string{"active": "true", "inactive": "false"}[text]
	}
	v, err := item.Parse(text)
	if err != nil {
		return encoding.Value{}, err
	}
	return item.Encode(v, like.Kind())
}
