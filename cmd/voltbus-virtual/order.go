package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/control"
	"voltbus/virtual/whole"
)

// command has the orders given at their moments, by the API. What becomes of them is in the audit log of the node.
func (e *estate) command(ctx context.Context) {
	ctx, e.end = context.WithCancel(ctx)
	for i := range e.hello.Orders {
		o := &e.hello.Orders[i]
		m := e.by[o.Node]
		if m == nil {
			continue // the world has checked it
		}
		e.orders.Go(func() {
			timer := time.NewTimer(time.Until(e.hello.Start.Add(o.At)))
			defer timer.Stop()
			select {
			case <-ctx.Done():
			case <-timer.C:
				m.obey(ctx, i, o)
			}
		})
	}
}

func (m *member) obey(ctx context.Context, number int, o *whole.Order) {
	value, err := json.Marshal(o.Value)
	if err != nil {
		return // it came as JSON
	}
	wait := 0.0
	_, _ = client.Do(ctx, m.client, control.Command, answer.NewCommands{Wait: &wait, Commands: answer.NewCommandList{{
		ID: fmt.Sprintf("order-%d", number+1), Point: o.Point, Value: value, Level: o.Level, Lease: o.Lease.Seconds(), Reason: "an order of the world",
	}}}) // a refusal is in the audit log
}
