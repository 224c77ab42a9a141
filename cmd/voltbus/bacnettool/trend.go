package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

const trendHelp = `Print the newest records of a trend log, the oldest of them first. Times are those of the device's clock, in
its local time.`

func newTrend() *cobra.Command {
	var f flags
	var last int
	var out shell.Format
	cmd := &cobra.Command{
		Use: "trend <trend-log:instance>", Short: "Print records of a trend log", Long: trendHelp, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := parseObject(args[0])
			if err != nil {
				return err
			}
			if last < 1 {
				return shell.Usage(errors.New("--last: write how many records, 1 or more"))
			}
			return f.with(cmd, func(ctx context.Context, d client.Remote) error {
				rows, err := out.Open(cmd.OutOrStdout(), "time", "value", "status")
				if err != nil {
					return err
				}
				if err := trend(ctx, rows, d, object, uint32(last)); err != nil {
					return err
				}
				return rows.End()
			})
		},
	}
	f.registerDevice(cmd)
	cmd.Flags().IntVar(&last, "last", 100, "how many records")
	out.Register(cmd)
	return cmd
}

// part is how many records are requested at once.
const part = 50

func trend(ctx context.Context, rows shell.Rows, d client.Remote, log encoding.ObjectID, last uint32) error {
	data, err := d.ReadProperty(ctx, client.Property{Object: log, Property: enum.PropertyRecordCount})
	if err != nil {
		return err
	}
	v, err := data.One()
	if err != nil {
		return err
	}
	count := uint32(v.Uint())
	next := count - min(count, last) + 1
	for next <= count {
		ack, err := d.ReadRange(ctx, service.ReadRangeRequest{
			Object: log, Property: enum.PropertyLogBuffer, By: service.ByPosition, Start: next, Count: int32(min(part, count-next+1)),
		})
		if err != nil {
			return err
		}
		records, err := constructed.List(ack.Items, constructed.ReadLogRecord)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return nil
		}
		for _, r := range records {
			if err := rows.Row(r.Time.String(), recordText(r), statusText(r)); err != nil {
				return err
			}
		}
		next += uint32(len(records))
	}
	return nil
}

// recordText formats the content of a record.
func recordText(r constructed.LogRecord) string {
	switch r.Choice {
	case constructed.LogStatus:
		var set []string
		for i, name := range []string{"log disabled", "buffer purged", "log interrupted"} {
			if r.Value.Bits().Bit(i) {
				set = append(set, name)
			}
		}
		if len(set) == 0 {
			return "log enabled"
		}
		return strings.Join(set, ", ")
	case constructed.LogFailure:
		return fmt.Sprintf("not read: %v (%v)", r.Code, r.Class)
	case constructed.LogTimeChange:
		return fmt.Sprintf("the clock was set by %v s", r.Value)
	case constructed.LogAny:
		return fmt.Sprintf("%X", []byte(r.Any))
	default:
		return r.Value.String()
	}
}

func statusText(r constructed.LogRecord) string {
	if !r.HasStatus {
		return ""
	}
	return r.Status.String()
}
