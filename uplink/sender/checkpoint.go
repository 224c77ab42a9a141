package sender

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"

	"voltbus/internal/atomicfile"
	"voltbus/uplink"
)

// acknowledgements are the content of a checkpoint, as its file holds it.
type acknowledgements struct {
	Log   string                 `json:"log"`   // identity of the log
	Lanes map[uplink.Lane]uint64 `json:"lanes"` // log sequence number up to which all of a lane is acknowledged
	// Origins are their acknowledged positions. A parent with a lower one lacks something before the log
	// positions above.
	Origins map[string]uplink.Position `json:"origins"`
}

// checkpoint is what a sender remembers across a restart about the parent's acknowledgements. It only saves work:
// without it the log is read from its beginning, and the parent reports what it has.
type checkpoint struct {
	file string // "" keeps nothing across a restart
	log  *slog.Logger

	mu    sync.Mutex
	acked acknowledgements
}

func newCheckpoint(file string, log *slog.Logger) *checkpoint {
	return &checkpoint{file: file, log: log, acked: recall(file, log)}
}

// recall reads the file.
func recall(file string, log *slog.Logger) acknowledgements {
	m := acknowledgements{Lanes: map[uplink.Lane]uint64{}, Origins: map[string]uplink.Position{}}
	if file == "" {
		return m
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	var read acknowledgements
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
func Check(content []byte) error { return json.Unmarshal(content, &acknowledgements{}) }

// keep writes the file after changes, until ctx ends, and once more at the end.
func (c *checkpoint) keep(ctx context.Context) {
	tick := time.NewTicker(keepEach)
	defer tick.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			c.save(&last)
			return
		case <-tick.C:
			c.save(&last)
		}
	}
}

func (c *checkpoint) save(last *string) {
	if c.file == "" {
		return
	}
	c.mu.Lock()
	data, err := json.Marshal(c.acked)
	c.mu.Unlock()
	if err != nil || string(data) == *last { // numbers and strings cannot fail
		return
	}
	if err := new(atomicfile.Writer).Write(c.file, data, 0o600); err != nil {
		c.log.Warn("the place in the log cannot be kept; after a restart more of it is read again", slog.Any("err", err))
		return
	}
	*last = string(data)
}

// origins returns how far the parent acknowledged each origin.
func (c *checkpoint) origins() map[string]uplink.Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.acked.Origins)
}

// place returns the sequence number up to which both lanes of a log are acknowledged; 0 if it is another log.
func (c *checkpoint) place(log string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acked.Log != log || len(c.acked.Lanes) < 2 {
		return 0
	}
	return min(c.acked.Lanes[uplink.Normal], c.acked.Lanes[uplink.Urgent])
}

// move records the log sequence number up to which all of a lane is acknowledged.
func (c *checkpoint) move(l uplink.Lane, sequence uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked.Lanes[l] = sequence
}

// acknowledge records how far the parent has an origin.
func (c *checkpoint) acknowledge(origin string, to uplink.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked.Origins[origin] = to
}

// extent is the identity of a node's log, and its last sequence number.
type extent struct {
	id   string
	last uint64
}

// begin returns up to where a lane of the log need not be read, and for how many origins the parent has more than it
// acknowledged. From now on the parent's answer counts.
func (c *checkpoint) begin(l uplink.Lane, log extent, has map[string]uplink.Position) (place, gained uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acked.Log != log.id { // another log: nothing from the old one applies
		c.acked.Log = log.id
		clear(c.acked.Lanes)
	}
	place = c.acked.Lanes[l]
	if place > log.last {
		place = 0
	}
	for origin, p := range c.acked.Origins {
		if uplink.LaneOf(origin) != l {
			continue
		}
		switch has := has[origin].Sequence; {
		case has < p.Sequence:
			place = 0 // the parent was restored, or is another one
		case has > p.Sequence:
			gained++ // its answer was lost
		}
		c.acked.Origins[origin] = has[origin]
	}
	c.acked.Lanes[l] = place
	return place, gained
}
