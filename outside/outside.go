// Package outside runs all that connects a node with systems outside: readings go to external MQTT brokers and to other destinations, and messages of
// brokers are recorded.
package outside

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/agent/claim"
	broker "voltbus/broker/setting"
	"voltbus/judge/function"
	rules "voltbus/judge/setting"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/sink/all"
	"voltbus/sink/destination"
	"voltbus/sink/mqtt"
	"voltbus/sink/setting"
	"voltbus/source"
	kinds "voltbus/source/all"
	inward "voltbus/source/setting"
	"voltbus/uplink/judged"
	"voltbus/verdict"
)

// Config is what sinks and sources need.
type Config struct {
	Publish []broker.Publish
	Sinks   []setting.Sink
	Judge   rules.Rules
	// Functions tells how functions of rules are started.
	Functions Functions
	Sources   []inward.Source
	Parent    *judged.Log // of OpenParent
	Dir       string      // the data directory
	Node      string
	Blocks    sink.Log
	History   destination.History // nil without a store
	Unit      func(point.Path) string
	// Recorded returns how many samples of each origin were acknowledged.
	Recorded func() map[string]uint64
	// Admission records what sources take, with times within Bounds.
	Admission source.Admission
	Bounds    point.Bounds
	Now       func() time.Time
	Log       *slog.Logger
}

// Functions tells how functions of rules are started: see function.Config.
type Functions = function.Config

// Users are the users as which they run.
type Users = claim.Range

// Systems are all systems outside that a node is connected with: its sinks, beside the history, and its sources.
type Systems struct {
	*destination.Destinations

	Sources *source.Sources
	Parent  *judged.Log // nil if no rule holds for the parent
	brokers *mqtt.Publishers
}

// Open creates sinks and sources. A new sink receives what is recorded from now on.
func Open(ctx context.Context, c Config) (s *Systems, err error) {
	s = &Systems{Parent: c.Parent}
	c.Functions.Data, c.Functions.Now, c.Functions.Log = c.Dir, c.Now, c.Log
	if s.brokers, err = mqtt.Open(ctx, mqtt.Config{Publish: c.Publish, Dir: c.Dir, Node: c.Node, Blocks: c.Blocks, Unit: c.Unit, Now: c.Now, Log: c.Log}); err != nil {
		return nil, err
	}
	s.Destinations, err = destination.Open(ctx, destination.Config{
		Sinks: c.Sinks, Judge: c.Judge, Function: function.New(c.Functions).Make, Kinds: all.Kinds(), Dir: c.Dir, Node: c.Node, Blocks: c.Blocks, History: c.History, Unit: c.Unit, Recorded: c.Recorded, Now: c.Now, Log: c.Log,
	})
	if err != nil {
		return s, err
	}
	s.Sources, err = source.Open(source.Config{
		Sources: c.Sources, Kinds: kinds.Kinds(), Dir: c.Dir, Node: c.Node, Admission: c.Admission, Bounds: c.Bounds, Now: c.Now, Log: c.Log,
	})
	return s, err
}

// Run sends and records until ctx ends.
func (s *Systems) Run(ctx context.Context) error {
	var group errgroup.Group
	group.Go(func() error { return s.brokers.Run(ctx) })
	group.Go(func() error { return s.Destinations.Run(ctx) })
	group.Go(func() error { return s.Sources.Run(ctx) })
	return group.Wait()
}

// Facts tells which systems outside currently receive nothing or give nothing, and what was refused.
func (s *Systems) Facts() (list []verdict.File) {
	ctx := context.Background() // what it asks for is on this machine
	for _, text := range s.brokers.Problems(ctx) {
		list = append(list, verdict.File{Part: verdict.Destinations, Name: "mqtt publish", Sentence: text})
	}
	for _, text := range s.Problems(ctx) {
		list = append(list, verdict.File{Part: verdict.Destinations, Name: "sinks", Sentence: text})
	}
	if text := s.Parent.Problem(); text != "" {
		list = append(list, verdict.File{Name: "judge", Sentence: text, Link: "/destinations"})
	}
	for _, text := range s.Sources.Problems() {
		list = append(list, verdict.File{Name: "sources", Sentence: text})
	}
	return list
}
