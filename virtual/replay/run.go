package replay

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"voltbus/virtual/world"
)

// Options say which agent decides anew, and how.
type Options struct {
	Class  string         // package.module:Class
	Folder string         // of its module; "" for none but where the interpreter looks
	Config map[string]any // nil for its defaults
	Python string         // "" for python3
	Limits Limits
	World  world.Options
	Pace   float64 // times real time; 0 for as fast as possible
}

// Report is what a replay found.
type Report struct {
	Comparison *Comparison   `json:"comparison"`
	Now        []Decision    `json:"decisions"`
	World      *world.Result `json:"world"`
}

// Run plays a recording to an agent and compares what it decides with then, or with other decisions if there are any.
func Run(ctx context.Context, r *Recording, against []Decision, o Options) (report *Report, err error) {
	if o.Python == "" {
		o.Python = "python3"
	}
	site := world.Site{Name: r.Node, Scan: time.Minute, Agents: []world.Agent{{Name: r.Agent, Class: o.Class, Config: o.Config}}}
	if o.Folder != "" {
		folder, err := filepath.Abs(o.Folder)
		if err != nil {
			return nil, err
		}
		site.Path = []string{folder}
	}
	length := r.To.Sub(r.From)
	file := &world.File{
		World: world.Settings{Name: "replay of " + r.Node, Start: r.From, Duration: length, Step: time.Minute, Tolerance: 1, Python: o.Python},
		Sites: []world.Site{site},
	}
	o.World.Writable = r.first
	w, err := world.New(file, o.World)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := errors.Join(w.Play(r.Node, r.Scans), w.Pacer().Set(o.Pace)); err != nil {
		return nil, err
	}
	if err := w.Run(ctx, length); err != nil {
		return nil, err
	}
	result := w.Result()
	now, err := decisionsOf(result, r.From)
	if err != nil {
		return nil, err
	}
	if against == nil {
		against = r.Then
	}
	return &Report{Compare(against, now, r.From, r.To, o.Limits), now, result}, nil
}

// decisionsOf returns what the agent commanded in a run.
func decisionsOf(w *world.Result, start time.Time) ([]Decision, error) {
	var all []Decision
	for _, h := range w.Held {
		d := Decision{At: start.Add(h.At), Point: h.Point}
		if err := json.Unmarshal(h.Value, &d.Value); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
