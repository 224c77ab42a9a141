//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/lab/load"
)

// How answers are timed: senders that wait for each answer before they send again after a pause.
const (
	timed  = 64
	pause  = 10 * time.Millisecond
	timing = 5 * time.Second
)

// answers returns how long messages with QoS 1 wait for their answers.
func (l *work) answers(ctx context.Context, addr string) (*load.Histogram, error) {
	all, err := dialAll(ctx, addr, "timed", timed, false)
	if err != nil {
		return nil, err
	}
	defer closeAll(all)
	times := make([]*load.Histogram, len(all))
	var g errgroup.Group
	for i, p := range all {
		times[i] = load.NewHistogram()
		g.Go(func() error {
			topic := fmt.Sprintf("devices/timed-%d/state", i)
			time.Sleep(pause * time.Duration(i) / timed) // not all at once
			for end := time.Now().Add(timing); time.Now().Before(end); time.Sleep(pause) {
				began, before := time.Now(), p.answers
				if err := p.send(topic, 1); err != nil {
					return err
				}
				if err := p.until(func() bool { return p.answers > before }); err != nil {
					return err
				}
				times[i].Add(time.Since(began))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	sum := load.NewHistogram()
	for _, h := range times {
		sum.Merge(h)
	}
	return sum, nil
}
