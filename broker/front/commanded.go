package front

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"voltbus/broker/command"
	"voltbus/broker/template"
	"voltbus/control/state"
	"voltbus/point"
)

// What replicas tell each other of points that can be commanded: any of them may be the one that controls.
const (
	knownTopic = "command.known" // points that were found
	heardTopic = "command.heard" // what their devices report
	listTopic  = "command.list"  // a question for all points, some at a time
)

// mostListed is how many points one answer lists.
const mostListed = 5000

// found takes a point that can be commanded, and tells the other replicas.
func (f *Front) found(topic string, made *template.Command) {
	f.Commands.Add(topic, made)
	if f.cfg.Mesh != nil {
		f.tell(knownTopic, []command.Known{{Point: made.Point, Topic: topic, Detail: made.Detail}})
	}
}

// tell tells all other replicas something, best effort.
func (f *Front) tell(what string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	for _, name := range f.cfg.Mesh.Others() {
		_ = f.cfg.Mesh.Tell(name, what, data) // who is not reached asks when it starts
	}
}

// heard is a sample on its way to another replica.
type heard struct {
	Point   point.Path    `json:"point"`
	Device  point.Path    `json:"device"`
	Time    time.Time     `json:"time"`
	Value   state.Value   `json:"value"`
	Quality point.Quality `json:"quality,omitempty"`
}

// pass passes what a device reports of points that can be commanded on to the other replicas.
func (f *Front) pass(scan *point.Scan) {
	if f.cfg.Mesh == nil {
		return
	}
	var list []heard
	for i := range scan.Samples {
		if s := &scan.Samples[i]; f.Commands.Owns(s.Point) {
			list = append(list, heard{s.Point, scan.Device, s.Time, state.Value{Value: s.Value}, s.Quality})
		}
	}
	if len(list) > 0 {
		f.tell(heardTopic, list)
	}
}

// hearOthers takes what the other replicas tell.
func (f *Front) hearOthers() error {
	if f.cfg.Mesh == nil {
		return nil
	}
	if err := f.cfg.Mesh.Serve(knownTopic, func(_ string, data []byte) []byte {
		f.learn(data)
		return nil
	}); err != nil {
		return err
	}
	if err := f.cfg.Mesh.Serve(listTopic, func(_ string, data []byte) []byte { return f.listed(string(data)) }); err != nil {
		return err
	}
	return f.cfg.Mesh.Serve(heardTopic, func(_ string, data []byte) []byte {
		var list []heard
		if json.Unmarshal(data, &list) != nil {
			return nil
		}
		for i := range list {
			h := &list[i]
			scan := &point.Scan{Device: h.Device, Time: h.Time, Samples: []point.Sample{{Point: h.Point, Time: h.Time, Value: h.Value.Value, Quality: h.Quality}}}
			f.Commands.Hear(scan)
			f.cfg.Heard(scan)
		}
		return nil
	})
}

// learn takes points that others have found, and returns the last one.
func (f *Front) learn(data []byte) (last point.Path, n int) {
	var list []command.Known
	if json.Unmarshal(data, &list) != nil {
		return "", 0
	}
	for _, k := range list {
		if last = k.Point; f.Commands.Owns(k.Point) {
			continue
		}
		if made := f.commandOf(k); made != nil {
			f.Commands.Add(k.Topic, made)
		}
	}
	return last, len(list)
}

// listed returns the points behind one.
func (f *Front) listed(after string) []byte {
	list := []command.Known{}
	err := f.storage.Commands(context.Background(), func(k command.Known) {
		if string(k.Point) > after {
			list = append(list, k)
		}
	})
	slices.SortFunc(list, func(a, b command.Known) int { return strings.Compare(string(a.Point), string(b.Point)) })
	data, err2 := json.Marshal(list[:min(len(list), mostListed)])
	if err != nil || err2 != nil {
		return []byte("[]")
	}
	return data
}

// learnAll asks the other replicas for the points that they know.
func (f *Front) learnAll(ctx context.Context) {
	for _, name := range f.cfg.Mesh.Others() {
		for after, n := point.Path(""), mostListed; n == mostListed && ctx.Err() == nil; {
			data, err := f.cfg.Mesh.Ask(ctx, name, listTopic, []byte(after))
			if err != nil {
				f.cfg.Log.InfoContext(ctx, "a replica does not tell which points can be commanded; they are known when they report", slog.String("replica", name), slog.Any("err", err))
				break
			}
			after, n = f.learn(data)
		}
	}
}
