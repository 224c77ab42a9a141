package dnp3pairs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Consumer is a program that takes the reports of outstations, such as a node.
type Consumer interface {
	// Start begins to take the reports of outstations at addresses, each with link address 10 and the points of a pair.
	Start(ctx context.Context, addresses []string) error
	// Taken returns how many events it has taken and confirmed.
	Taken(ctx context.Context) (uint64, error)
}

var errOther = errors.New("the outstations of a consumer need a process of their own")

// MeasureConsumer lets outstations in another process report to a consumer in this one. Each of them begins its next
// report when the one before is confirmed, so that a message that is taken has been confirmed.
func MeasureConsumer(ctx context.Context, o Options, c Consumer) (Result, error) {
	if o.Other == nil {
		return Result{}, errOther
	}
	ctx, cancel := context.WithCancel(ctx)
	before := status(resident)
	b := &bed{}
	defer b.running.Wait()
	defer cancel()
	process, err := b.spawn(ctx, o.Other(ctx))
	if err != nil {
		return Result{}, err
	}
	addresses, err := process.addresses(o.Sessions)
	if err != nil {
		return Result{}, err
	}
	if err := c.Start(ctx, addresses); err != nil {
		return Result{}, err
	}
	if err := exceedTaken(ctx, c, uint64(2*o.Sessions*(o.Values+len(formTable)*Points))); err != nil { // on average each has begun to report
		return Result{}, err
	}
	if err := pause(ctx, o.Warmup); err != nil {
		return Result{}, err
	}
	runtime.GC()
	if o.Began != nil {
		defer o.Began()()
	}
	first, err := c.Taken(ctx)
	if err != nil {
		return Result{}, err
	}
	start, cpu := time.Now(), used()+process.cpu()
	if err := pause(ctx, o.Duration); err != nil {
		return Result{}, err
	}
	last, err := c.Taken(ctx)
	return Result{
		Messages: int64(last-first) / int64(o.Values), Elapsed: time.Since(start), CPU: used() + process.cpu() - cpu,
		PeakKB: status(residentPeak), GrownKB: status(resident) - before,
	}, err
}

// exceedTaken waits until a consumer has taken more than n events.
func exceedTaken(ctx context.Context, c Consumer, n uint64) error {
	for late := time.Now().Add(startLimit); ; {
		taken, err := c.Taken(ctx)
		switch {
		case err != nil:
			return err
		case taken > n:
			return nil
		case time.Now().After(late):
			return fmt.Errorf("%d events were taken: %w", taken, errStart)
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}
