package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/point"
	"voltbus/wire"
)

// follow receives live messages until the node ends the stream.
func (f *Feed) follow(ctx context.Context) error {
	want := client.Live{Pattern: f.pattern}
	if f.config.Control != nil {
		want.Control = func(event json.RawMessage) error {
			var e answer.ControlEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return fmt.Errorf("decode an event of control: %w", err)
			}
			f.config.Control(e)
			return nil
		}
	}
	return f.config.Node.Follow(ctx, want, func(message json.RawMessage) error {
		scan, err := wire.ParseScan(message)
		if err != nil {
			return err
		}
		f.take(scan)
		return nil
	})
}

// take shows the samples of the points in a scan.
func (f *Feed) take(scan *wire.Scan) {
	var samples []point.Sample
	for name, raw := range scan.Points {
		path := scan.Device.Join(name)
		if !f.points[path] {
			continue
		}
		s := point.Sample{Point: path, Time: scan.TimeOf(name), Value: valueOf(raw)}
		if text := scan.Quality[name]; text != "" {
			quality, known := point.ParseQuality(text)
			if !known {
				quality = point.Uncertain
			}
			s.Quality = quality
		}
		samples = append(samples, s)
	}
	f.config.Show(samples)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range samples {
		f.heard[samples[i].Point] = true
	}
}

// unheard returns the points that the stream has not delivered since forget was called: their devices publish
// no scans, or have nothing to report.
func (f *Feed) unheard() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var paths []string
	for path := range f.points {
		if !f.heard[path] {
			paths = append(paths, string(path))
		}
	}
	return paths
}

// forget clears the record of points delivered by the stream.
func (f *Feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.heard)
}

// valueOf parses a value of a live message; none if it is null. An integer literal stays an exact integer.
func valueOf(raw json.RawMessage) point.Value {
	var whole int64
	var number float64
	var on bool
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &on) == nil:
		return point.BoolOf(on)
	case json.Unmarshal(raw, &whole) == nil:
		return point.IntOf(whole)
	case json.Unmarshal(raw, &number) == nil:
		return point.FloatOf(number)
	case json.Unmarshal(raw, &text) == nil:
		return point.TextOf(text)
	}
	return point.Value{}
}

// Common returns the pattern of the deepest path at or below which all paths lie; "" for none.
func Common(paths []point.Path) string {
	if len(paths) == 0 {
		return ""
	}
	shared := strings.Split(string(paths[0]), "/")
	for _, p := range paths[1:] {
		parts := strings.Split(string(p), "/")
		n := 0
		for n < len(shared) && n < len(parts) && shared[n] == parts[n] {
			n++
		}
		shared = shared[:n]
	}
	if pattern := strings.Join(shared, "/"); !strings.Contains(pattern, "*") {
		return pattern
	}
	return ""
}
