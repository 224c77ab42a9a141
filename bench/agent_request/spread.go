package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

const (
	rounds = 20 // of messages to all agents; the median is given
	points = 18 // of a device
)

// spread measures from the first message that is sent to the last that is received.
func (p *plan) spread(ctx context.Context, h *hall) error {
	sender, err := h.join(ctx, "sender", identity.Grants{Publish: []point.Pattern{"site/**"}})
	if err != nil {
		return err
	}
	defer sender.Close()
	var left atomic.Int64
	all := make(chan struct{}, 1)
	for i := range p.agents {
		c, err := h.join(ctx, fmt.Sprintf("listener%d", i), identity.Grants{Subscribe: []point.Pattern{"site/**"}})
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Subscribe(wire.Selection{Patterns: []point.Pattern{"site/**"}}, func([]point.Sample) {
			if left.Add(-1) == 0 {
				all <- struct{}{}
			}
		}); err != nil {
			return err
		}
	}
	var times []time.Duration
	for range rounds {
		left.Store(int64(p.agents * p.devices))
		began := time.Now()
		if err := publish(sender, p.devices, began); err != nil {
			return err
		}
		select {
		case <-all:
		case <-ctx.Done():
			return fmt.Errorf("%d messages did not come: %w", left.Load(), ctx.Err())
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fmt.Printf("%d devices to %d agents: median %.4f s, fastest %.4f s, slowest %.4f s (peer: 0.44 s)\n",
		p.devices, p.agents, times[rounds/2].Seconds(), times[0].Seconds(), times[rounds-1].Seconds())
	return nil
}

func publish(c *client.Client, devices int, now time.Time) error {
	for d := range devices {
		scan := &point.Scan{Device: point.Path(fmt.Sprintf("site/d%d", d)), Time: now.UTC()}
		for i := range points {
			scan.Samples = append(scan.Samples, point.Sample{
				Point: scan.Device.Join(fmt.Sprintf("p%d", i)), Time: scan.Time, Value: point.FloatOf(float64(i) + 0.5),
			})
		}
		if err := c.Publish(scan); err != nil {
			return err
		}
	}
	return nil
}
