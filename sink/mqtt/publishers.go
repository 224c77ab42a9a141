package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/sparkplug"
	"voltbus/sink"
)

// Config is what publishers need.
type Config struct {
	Publish []setting.Publish
	Dir     string // the data directory
	Node    string
	Blocks  sink.Log
	Unit    func(point.Path) string // unit of a point
	Now     func() time.Time
	Log     *slog.Logger
}

// Publishers are all sinks to brokers.
type Publishers struct {
	list []publisher
	log  sink.Log
}

type publisher struct {
	name   string
	target *Target
	sink   *sink.Sink
}

// Open creates the sinks. A new broker in the configuration receives what is recorded from now on.
func Open(ctx context.Context, cfg Config) (*Publishers, error) {
	p := &Publishers{log: cfg.Blocks}
	for _, s := range cfg.Publish {
		s = s.Completed()
		t := &Target{Publish: s, file: fileOf(cfg.Dir, s.Name), node: cfg.Node, now: cfg.Now}
		if s.Format == setting.SparkplugB {
			t.edge = &edge{group: s.Group, node: cfg.Node, metrics: map[point.Path]*sparkplug.Value{}, unit: cfg.Unit}
		}
		if _, err := os.Stat(t.file); errors.Is(err, os.ErrNotExist) {
			_, last, err := cfg.Blocks.Bounds(ctx)
			if err == nil {
				err = t.keep(position{Log: cfg.Blocks.ID(), Sequence: last})
			}
			if err != nil {
				return nil, err
			}
		}
		p.list = append(p.list, publisher{s.Name, t, sink.New(sink.Config{
			Leaves: point.IsMeterOrigin, Log: cfg.Log.With(slog.String("broker", s.Name)),
		}, cfg.Blocks, t)})
	}
	return p, nil
}

// Run publishes until ctx ends.
func (p *Publishers) Run(ctx context.Context) error {
	var all errgroup.Group
	for _, one := range p.list {
		all.Go(func() error { return errors.Join(one.sink.Run(ctx), one.target.Close()) })
	}
	err := all.Wait()
	if len(p.list) == 0 {
		<-ctx.Done()
	}
	return err
}

// Problems describes which brokers currently receive nothing.
func (p *Publishers) Problems(ctx context.Context) (list []string) {
	for _, one := range p.list {
		s := one.sink.Stats()
		if s.Err == nil {
			continue
		}
		waiting := uint64(0)
		if _, last, err := p.log.Bounds(ctx); err == nil && last > s.Sequence {
			waiting = last - s.Sequence
		}
		list = append(list, fmt.Sprintf("Nothing is published to the MQTT broker %q: %v. %d blocks wait.", one.name, s.Err, waiting))
	}
	return list
}
