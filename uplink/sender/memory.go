package sender

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"time"

	"voltbus/internal/atomicfile"
	"voltbus/uplink"
)

// memory is what a sender remembers over a restart. It only saves work: without it the log is read
// from its beginning, and the parent says what it has.
type memory struct {
	Log   string                 `json:"log"`   // identity of the log
	Lanes map[uplink.Lane]uint64 `json:"lanes"` // sequence of the log up to which all of a lane is acknowledged
	// Origins are how far they were acknowledged. A parent that has less of one lacks something
	// that stands before the places above.
	Origins map[string]uplink.Position `json:"origins"`
}

// recall reads the file.
func recall(file string, log *slog.Logger) memory {
	m := memory{Lanes: map[uplink.Lane]uint64{}, Origins: map[string]uplink.Position{}}
	if file == "" {
		return m
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	var read memory
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		log.Warn("the place in the log is forgotten; it is read from its beginning", slog.String("file", file), slog.Any("err", err))
		return m
	}
	maps.Copy(m.Lanes, read.Lanes)
	maps.Copy(m.Origins, read.Origins)
	m.Log = read.Log
	return m
}

// Check returns what is wrong with the content of the file of a sender.
func Check(content []byte) error { return json.Unmarshal(content, &memory{}) }

// keep writes the file while Run runs, when something changed, and a last time.
func (s *Sender) keep(ctx context.Context) {
	tick := time.NewTicker(keepEach)
	defer tick.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			s.save(&last)
			return
		case <-tick.C:
			s.save(&last)
		}
	}
}

func (s *Sender) save(last *string) {
	if s.cfg.File == "" {
		return
	}
	s.mu.Lock()
	data, err := json.Marshal(s.memory)
	s.mu.Unlock()
	if err != nil || string(data) == *last { // numbers and texts are always written
		return
	}
	if err := new(atomicfile.Writer).Write(s.cfg.File, data, 0o600); err != nil {
		s.cfg.Log.Warn("the place in the log cannot be kept; after a restart more of it is read again", slog.Any("err", err))
		return
	}
	*last = string(data)
}

// remember notes how far a lane came.
func (s *Sender) remember(l uplink.Lane, sequence uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.Lanes[l] = sequence
}

// begin returns up to where a lane of the log, which ends at last, needs not be read. From now on
// what the parent said counts.
func (s *Sender) begin(l uplink.Lane, w *uplink.Welcome, last uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := s.log.ID(); s.memory.Log != id { // another log: nothing of the old one holds
		s.memory.Log = id
		clear(s.memory.Lanes)
	}
	place := s.memory.Lanes[l]
	if place > last {
		place = 0
	}
	for origin, p := range s.memory.Origins {
		if uplink.LaneOf(origin) != l {
			continue
		}
		switch has := w.Positions[origin].Sequence; {
		case has < p.Sequence:
			place = 0 // the parent was put back, or is another one
		case has > p.Sequence:
			s.gained++ // its answer was lost
		}
		s.memory.Origins[origin] = w.Positions[origin]
	}
	s.memory.Lanes[l] = place
	return place
}
