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

// order is what to write.
type order struct {
	flags
	property   client.Property
	text       string
	relinquish bool
	priority   int
}

func newWrite() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use: "write <object[.property]> [value]", Short: "Write or relinquish a property of an object", Long: writeHelp, Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.property, err = parseProperty(args[0])
			switch {
			case err != nil:
				return err
			case o.relinquish == (len(args) == 2):
				return shell.Usage(errors.New("write a value, or --relinquish without one"))
			case o.priority < 0 || o.priority > 16 || o.relinquish && o.priority == 0:
				return shell.Usage(errors.New("--priority: write 1, the most urgent, to 16; it is needed with --relinquish"))
			}
			if len(args) == 2 {
				o.text = args[1]
			}
			return o.with(cmd, func(ctx context.Context, d client.Remote) error { return o.write(ctx, cmd, d) })
		},
	}
	o.registerDevice(cmd)
	cmd.Flags().IntVar(&o.priority, "priority", 0, "priority of the command, 1 to 16; none if left out, which devices take for 16")
	cmd.Flags().BoolVar(&o.relinquish, "relinquish", false, "take the command at the priority back")
	return shell.TakesNegatives(cmd)
}

func (o *order) write(ctx context.Context, cmd *cobra.Command, d client.Remote) error {
	p := o.property
	before, err := d.ReadProperty(ctx, p)
	if err != nil {
		return err
	}
	v, what := encoding.Null(), "relinquished"
	if !o.relinquish {
		if v, err = encode(p, o.text, before, survey.States(ctx, d, p.Object)); err != nil {
			return shell.Usage(err)
		}
		what = "wrote " + v.String()
	}
	d.Retries = -1
	if err := d.Write(ctx, p, v, uint8(o.priority)); err != nil {
		return err
	}
	d.Retries = 0
	after, err := d.ReadProperty(ctx, p)
	if err != nil {
		return fmt.Errorf("it was written, but not read back: %w", err)
	}
	if o.priority > 0 {
		what += fmt.Sprintf(" at priority %d", o.priority)
	}
	cmd.Printf("%v %v: was %s, %s, reads %s\n", p.Object, p.Property, valueText(p.Property, before), what, valueText(p.Property, after))
	return nil
}

// encode converts a value to the type of the property.
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
