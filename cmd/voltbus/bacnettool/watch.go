package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

const watchHelp = `Subscribe to changes of objects (COV), print each notification, and cancel the subscriptions at the end.`

type watcher struct {
	flags
	count       int
	lifetime    time.Duration
	unconfirmed bool
	out         shell.Format
}

func newWatch() *cobra.Command {
	var w watcher
	cmd := &cobra.Command{
		Use: "watch <object>...", Short: "Print changes that a device reports", Long: watchHelp, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			objects := make([]encoding.ObjectID, len(args))
			for i, arg := range args {
				var err error
				if objects[i], err = parseObject(arg); err != nil {
					return err
				}
			}
			return w.with(cmd, func(ctx context.Context, d client.Remote) error { return w.run(ctx, cmd, d, objects) })
		},
	}
	w.registerDevice(cmd)
	cmd.Flags().IntVar(&w.count, "count", 0, "end after so many notifications; 0: never")
	cmd.Flags().DurationVar(&w.lifetime, "lifetime", 5*time.Minute, "of a subscription; it is renewed")
	cmd.Flags().BoolVar(&w.unconfirmed, "unconfirmed", false, "the device does not repeat notifications that are lost")
	w.out.Register(cmd)
	return cmd
}

// waiting bounds the notifications not yet printed.
const waiting = 4096

func (w *watcher) run(ctx context.Context, cmd *cobra.Command, d client.Remote, objects []encoding.ObjectID) (err error) {
	rows, err := w.out.Open(cmd.OutOrStdout(), "time", "object", "value", "flags", "more")
	if err != nil {
		return err
	}
	news := make(chan service.Notification, waiting)
	for _, object := range objects {
		s, failed := d.Subscribe(ctx, client.Watch{Object: object, Confirmed: !w.unconfirmed, Lifetime: w.lifetime, Notify: func(n service.Notification) {
			select {
			case news <- n:
			default:
			}
		}})
		if failed != nil {
			return fmt.Errorf("subscribe to %v: %w", object, failed)
		}
		defer func() {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
			defer cancel()
			err = errors.Join(err, s.Cancel(end))
		}()
	}
	for n := 0; w.count == 0 || n < w.count; n++ {
		select {
		case <-ctx.Done():
			return rows.End()
		case one := <-news:
			if err := notificationInto(rows, one); err != nil {
				return err
			}
			if err := rows.End(); err != nil {
				return err
			}
		}
	}
	return rows.End()
}

func notificationInto(rows shell.Rows, n service.Notification) error {
	var value, flags, more string
	for _, v := range n.Values {
		text := valueText(v.Property, v.Value)
		switch v.Property {
		case enum.PropertyPresentValue:
			value = text
		case enum.PropertyStatusFlags:
			flags = text
		default:
			more += fmt.Sprintf("%v=%s ", v.Property, text)
		}
	}
	return rows.Row(time.Now().Format("15:04:05.000"), n.Object.String(), value, flags, more)
}
