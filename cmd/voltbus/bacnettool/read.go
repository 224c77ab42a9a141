package bacnettool

import (
	"context"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/survey"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

const readHelp = `Read properties of objects: OBJECT, or OBJECT.PROPERTY, or OBJECT.PROPERTY[INDEX].

  analog-input:1                     its present value
  analog-value:1.priority-array      all 16 priorities
  analog-value:1.priority-array[8]   one of them
  analog-input:1.all                 all properties
  device:1001.object-list            the objects of the device
  schedule:1.weekly-schedule         the week of a schedule; calendar:1.date-list has the days of a calendar`

func newRead() *cobra.Command {
	var f flags
	var out shell.Format
	cmd := &cobra.Command{
		Use: "read <object[.property]>...", Short: "Read properties of objects of a device", Long: readHelp, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted := make([]client.Property, len(args))
			for i, arg := range args {
				var err error
				if wanted[i], err = parseProperty(arg); err != nil {
					return err
				}
			}
			return f.with(cmd, func(ctx context.Context, d client.Remote) error {
				rows, err := out.Open(cmd.OutOrStdout(), "object", "property", "value", "type")
				if err != nil {
					return err
				}
				for _, p := range wanted {
					if err := readInto(ctx, rows, d, p); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	f.registerDevice(cmd)
	out.Register(cmd)
	return cmd
}

// readInto prints a property, or all properties of an object.
func readInto(ctx context.Context, rows shell.Rows, d client.Remote, p client.Property) error {
	if p.Property == enum.PropertyAll || p.Property == enum.PropertyRequired || p.Property == enum.PropertyOptional {
		return readGroup(ctx, rows, d, p)
	}
	results, err := d.Read(ctx, []client.Property{p})
	if err != nil {
		return err
	}
	reference := constructed.PropertyReference{Property: p.Property, Index: p.Index}.String()
	if r := results[0]; r.Err != nil {
		return rows.Row(p.Object.String(), reference, survey.Explain(r.Err).Error(), "error")
	}
	if p.Property == enum.PropertyPriorityArray && (p.Index == constructed.Index{}) {
		values, err := results[0].Value.Values()
		for i, v := range values {
			one := constructed.PropertyReference{Property: p.Property, Index: constructed.At(uint32(i + 1))}
			if err := rows.Row(p.Object.String(), one.String(), v.String(), v.Kind().String()); err != nil {
				return err
			}
		}
		return err
	}
	return rows.Row(p.Object.String(), reference, valueText(p.Property, results[0].Value), kindText(results[0].Value))
}

// readGroup prints the properties of an object in a group.
func readGroup(ctx context.Context, rows shell.Rows, d client.Remote, p client.Property) error {
	request := service.ReadMultipleRequest{{Object: p.Object, Properties: []constructed.PropertyReference{{Property: p.Property}}}}
	answer, err := d.Do(ctx, service.ReadPropertyMultiple, request.Append(nil))
	if err != nil {
		return err
	}
	ack, err := service.DecodeReadMultipleAck(answer)
	if err != nil {
		return err
	}
	for _, object := range ack {
		for _, r := range object.Properties {
			if r.Error != nil {
				continue // the object does not have it
			}
			reference := constructed.PropertyReference{Property: r.Property, Index: r.Index}
			if err := rows.Row(object.Object.String(), reference.String(), valueText(r.Property, r.Value), kindText(r.Value)); err != nil {
				return err
			}
		}
	}
	return nil
}
