package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/node"
	"voltbus/point"
)

// Backlog is what a node recorded while its parent was away: devices of 18 points that are read
// once a minute, twelve of them measured values with one digit behind the point and some noise,
// six of them states that change now and then.
type Backlog struct {
	Config  string `json:"config"`
	Samples int    `json:"samples"`
	Devices int    `json:"devices"`
	Batch   int    `json:"batch"` // devices that are read at one time, and so about a block
	Seed    int64  `json:"seed"`
}

const (
	backlogKind     = "backlog"
	backlogPoints   = 18
	backlogMeasured = 12
)

// backlogged is what the process says at its end.
type backlogged struct {
	Samples int `json:"samples"`
}

// Record records in a process of its own, on the data of a node that does not run, and returns how
// many samples there are.
func (b Backlog) Record(ctx context.Context, program []string) (int, error) {
	c, err := Start(program, backlogKind, b)
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.In.Close() })() // with which the process ends
	var done backlogged
	if err := c.Next(&done); err != nil {
		_ = c.Kill() // its last words are in err
		return 0, err
	}
	return done.Samples, c.Stop()
}

// serveBacklog records in this process.
func serveBacklog(ctx context.Context, raw []byte, out io.Writer) error {
	var b Backlog
	if err := json.Unmarshal(raw, &b); err != nil {
		return fault.E("rig.Serve", fault.Invalid, backlogKind, err)
	}
	memory.Tune()
	cfg, err := config.Load(b.Config, all.Kinds())
	if err != nil {
		return err
	}
	n, err := node.Open(ctx, node.Options{
		Config: cfg, Kinds: all.Kinds(), Idle: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	recorded, err := b.record(ctx, n)
	end()
	if closed := <-ended; err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return say(out, backlogged{Samples: recorded})
}

// record records whole minutes, the last of which has just passed.
func (b *Backlog) record(ctx context.Context, n *node.Node) (recorded int, err error) {
	minutes := max(1, b.Samples/(b.Devices*backlogPoints))
	begin := time.Now().Add(-time.Duration(minutes) * time.Minute).UTC().Truncate(time.Second)
	paths := make([]point.Path, b.Devices*backlogPoints)
	for i := range paths {
		paths[i] = point.Path(fmt.Sprintf("floor%d/device%d/p%d", i/backlogPoints%10, i/backlogPoints, i%backlogPoints))
	}
	apart := time.Minute / time.Duration(b.Devices)
	samples := make([]point.Sample, 0, b.Batch*backlogPoints)
	for minute := range minutes {
		for device := 0; device < b.Devices; device += b.Batch {
			samples = samples[:0]
			for d := device; d < min(device+b.Batch, b.Devices); d++ {
				at := begin.Add(time.Duration(minute)*time.Minute + time.Duration(d)*apart)
				for p := range backlogPoints {
					i := d*backlogPoints + p
					samples = append(samples, point.Sample{Point: paths[i], Time: at, Value: b.value(i, minute)})
				}
			}
			if err := n.Record(ctx, samples); err != nil {
				return recorded, err
			}
			recorded += len(samples)
		}
	}
	return recorded, nil
}

// value is what a point has in a minute.
func (b *Backlog) value(i, minute int) point.Value {
	device, p := i/backlogPoints, i%backlogPoints
	if p >= backlogMeasured {
		return point.BoolOf((minute/30+device+p)%3 == 0)
	}
	noise := float64(mix(uint64(i)<<32^uint64(minute)^uint64(b.Seed))%5) - 2
	day := math.Sin(2*math.Pi*float64(minute)/1440 + float64(device))
	return point.FloatOf((math.Round(200+50*day+noise) + 100*float64(p)) / 10)
}

// mix spreads a number over all bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
