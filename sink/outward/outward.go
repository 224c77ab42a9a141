// Package outward runs all that sends readings out of a node: to external MQTT brokers, and to other destinations.
package outward

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	broker "voltbus/broker/setting"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/sink/all"
	"voltbus/sink/destination"
	"voltbus/sink/mqtt"
	"voltbus/sink/setting"
	"voltbus/verdict"
)

// Config is what sinks need.
type Config struct {
	Publish []broker.Publish
	Sinks   []setting.Sink
	Dir     string // the data directory
	Node    string
	Blocks  sink.Log
	History destination.History // nil without a store
	Unit    func(point.Path) string
	// Recorded returns how many samples of each origin were acknowledged.
	Recorded func() map[string]uint64
	Now      func() time.Time
	Log      *slog.Logger
}

// Sinks are all sinks of a node, beside its history.
type Sinks struct {
	*destination.Destinations

	brokers *mqtt.Publishers
}

// Open creates the sinks. A new one receives what is recorded from now on.
func Open(ctx context.Context, c Config) (s *Sinks, err error) {
	s = &Sinks{}
	if s.brokers, err = mqtt.Open(ctx, mqtt.Config{Publish: c.Publish, Dir: c.Dir, Node: c.Node, Blocks: c.Blocks, Unit: c.Unit, Now: c.Now, Log: c.Log}); err != nil {
		return nil, err
	}
	s.Destinations, err = destination.Open(ctx, destination.Config{
		Sinks: c.Sinks, Kinds: all.Kinds(), Dir: c.Dir, Node: c.Node, Blocks: c.Blocks, History: c.History, Unit: c.Unit, Recorded: c.Recorded, Now: c.Now, Log: c.Log,
	})
	return s, err
}

// Run sends until ctx ends.
func (s *Sinks) Run(ctx context.Context) error {
	var both errgroup.Group
	both.Go(func() error { return s.brokers.Run(ctx) })
	both.Go(func() error { return s.Destinations.Run(ctx) })
	return both.Wait()
}

// Facts tells which external systems currently receive nothing, or refused something.
func (s *Sinks) Facts() (list []verdict.File) {
	ctx := context.Background() // what it asks for is on this machine
	for _, text := range s.brokers.Problems(ctx) {
		list = append(list, verdict.File{Name: "mqtt publish", Sentence: text})
	}
	for _, text := range s.Problems(ctx) {
		list = append(list, verdict.File{Name: "sinks", Sentence: text})
	}
	return list
}
