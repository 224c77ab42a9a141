package capacity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
	"voltbus/lab/rig/scan"
	"voltbus/operation/ledger"
)

// piece is what is flushed at once: about what a busy recorder appends.
const piece = 64 << 10

// disk flushes pieces one after another for half a window, as the log does.
func disk(ctx context.Context, o *Options, f *Figures) (err error) {
	name := filepath.Join(o.Dir, "flush")
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("make a file to flush: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(name)) }()
	data := make([]byte, piece)
	var took []time.Duration
	begin := time.Now()
	for ctx.Err() == nil && (len(took) < 3 || time.Since(begin) < o.Window/2) {
		at := time.Now()
		if _, err := file.Write(data); err != nil {
			return fmt.Errorf("write a piece: %w", err)
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("flush a piece: %w", err)
		}
		took = append(took, time.Since(at))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.Written = float64(len(took)*piece) / time.Since(begin).Seconds()
	slices.Sort(took)
	f.Flush = took[len(took)/2].Seconds()
	return nil
}

// load is what a node used under some devices.
type load struct {
	devices, points int
	usage           machine.Usage
	samples         uint64
	log             uint64 // bytes appended to the log
}

// chain runs nodes in processes of their own: without devices, with many devices of one point, and
// with many points. What they use more than the others is what a device and a point cost.
func chain(ctx context.Context, o *Options, f *Figures) error {
	loads := []load{{}, {devices: 1000, points: 1}, {devices: 1000, points: 18}}
	for i := range loads {
		if err := loads[i].run(ctx, o, i); err != nil {
			return err
		}
	}
	idle, few, many := &loads[0], &loads[1], &loads[2]
	f.MemoryBase = idle.usage.Memory
	points := float64(many.devices*many.points - few.devices*few.points)
	f.MemoryPerPoint = max(0, float64(many.usage.Memory)-float64(few.usage.Memory)) / points
	f.MemoryPerDevice = max(0, float64(few.usage.Memory)-float64(idle.usage.Memory))/float64(few.devices) - f.MemoryPerPoint
	f.MemoryPerDevice = max(0, f.MemoryPerDevice)
	cpu := many.usage.CPU - idle.usage.CPU*many.usage.Wall/idle.usage.Wall
	f.CPUPerSample = max(0, cpu) / float64(many.samples)
	f.LogPerSample = float64(many.log) / float64(many.samples)
	return nil
}

// run runs a node under the load for a window behind a warm-up.
func (l *load) run(ctx context.Context, o *Options, number int) (err error) {
	dir := filepath.Join(o.Dir, fmt.Sprint("node", number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the node's directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := rig.Site{Devices: l.devices, Points: l.points, Interval: min(time.Second, o.Window/4), Seed: 1}.Write(dir)
	if err != nil {
		return err
	}
	n, err := rig.Open(ctx, o.Program, file)
	if err != nil {
		return err
	}
	return errors.Join(l.watch(ctx, o, n), n.Close())
}

func (l *load) watch(ctx context.Context, o *Options, n *rig.Running) error {
	if err := pause(ctx, o.Window/4); err != nil {
		return err
	}
	before, err := l.settle(ctx, n, 0)
	if err != nil {
		return err
	}
	meter := machine.NewMeter(n.Process())
	if err := pause(ctx, o.Window); err != nil {
		return err
	}
	after, err := l.settle(ctx, n, stored(before))
	if err != nil {
		return err
	}
	if l.usage, err = meter.Usage(); err != nil {
		return err
	}
	l.samples = stored(after) - stored(before)
	l.log = after.Log.Bytes - min(before.Log.Bytes, after.Log.Bytes)
	return nil
}

// settle waits until the node has stored more samples than that, if it has devices. A machine that
// is busy with something else may take longer than a window.
func (l *load) settle(ctx context.Context, n *rig.Running, than uint64) (answer.Ledger, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ledger, err := client.Do(ctx, n.Client, ledger.Get, ledger.Reach{})
		if err != nil || l.devices == 0 || stored(ledger) > than {
			return ledger, err
		}
		if err := pause(ctx, patience/600); err != nil {
			return ledger, fault.E("capacity.Measure", fault.Timeout, "node", errors.New(
				"the node stored nothing in a minute; measure again while the machine is idle"))
		}
	}
}

// patience is how long a node may take to store something.
const patience = time.Minute

// stored is how many samples the ledger says are stored.
func stored(l answer.Ledger) (n uint64) {
	for i := range l.Origins {
		n += l.Origins[i].Stored
	}
	return n
}

// pause waits while a load runs by the wall clock.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// clients listens with few and with many clients to the same devices. What many use more is what
// clients and their messages cost, both ends of the connection.
func clients(ctx context.Context, o *Options, f *Figures) error {
	const devices, points, few, many = 50, 18, 1, 51
	var used [2]machine.Usage
	scans := max(1, int(o.Window/time.Second)/2)
	for i, listeners := range []int{few, many} {
		dir := filepath.Join(o.Dir, fmt.Sprint("clients", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make the clients' directory: %w", err)
		}
		meter := machine.NewMeter(os.Getpid())
		run := scan.Scan{Devices: devices, Points: points, Listeners: listeners, Scans: scans, Interval: 500 * time.Millisecond, Seed: 1, Dir: dir}
		var peak uint64
		run.Watch = func(scan.Scrape) {
			if u, err := meter.Usage(); err == nil {
				peak = max(peak, u.Memory)
			}
		}
		_, err := run.Run(ctx)
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
		if used[i], err = meter.Usage(); err != nil {
			return err
		}
		used[i].Memory = peak
	}
	deliveries := float64((many - few) * devices * (scans + 1))
	f.CPUPerDelivery = max(0, used[1].CPU-used[0].CPU) / deliveries
	f.MemoryPerClient = max(0, float64(used[1].Memory)-float64(used[0].Memory)) / (many - few)
	return nil
}
