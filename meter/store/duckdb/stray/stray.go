// Package stray is the table of readings in the embedded metering store whose channel is not registered yet.
package stray

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Reading is a reading as it is kept.
type Reading struct {
	Key              store.ChannelKey
	End              int64 // Unix microseconds
	Value            float64
	Recorded, Source uint32
}

// Strays counts the readings whose channel is not registered yet.
type Strays struct {
	All uint64
	Of  map[string]uint64 // by the origin of the block in which they came; "" for this node
}

// Change is what one transaction changes of them.
type Change struct {
	before   uint64
	added    map[string]int64 // by origin
	sum      int64
	appender *engine.Appender
	n        int // rows of the appender's chunk
}

// Change begins what a transaction changes.
func (s *Strays) Change() *Change {
	return &Change{before: s.All, added: map[string]int64{}}
}

// Publish makes a change visible that was committed.
func (s *Strays) Publish(c *Change) {
	s.All = c.All()
	for origin, n := range c.added {
		if s.Of[origin] += uint64(n); s.Of[origin] == 0 {
			delete(s.Of, origin)
		}
	}
}

// All returns how many there are with the change.
func (c *Change) All() uint64 { return c.before + uint64(c.sum) }

// Count adds readings of an origin, or takes them away.
func (c *Change) Count(origin string, n int64) {
	c.added[origin] += n
	c.sum += n
}

// Put keeps a reading until its channel is registered.
func (c *Change) Put(conn *engine.Conn, r *Reading, origin string) (err error) {
	if c.appender == nil {
		c.appender, err = conn.Appender("strays", duck.TypeVarchar, duck.TypeUInteger, duck.TypeBigInt, duck.TypeDouble, duck.TypeUInteger, duck.TypeUInteger)
		if err != nil {
			return err
		}
	}
	c.appender.Text(0, c.n, r.Key.Meter)
	engine.Column[uint32](c.appender, 1)[c.n] = uint32(r.Key.Channel)
	engine.Column[int64](c.appender, 2)[c.n] = r.End
	engine.Column[float64](c.appender, 3)[c.n] = r.Value
	engine.Column[uint32](c.appender, 4)[c.n] = r.Recorded
	engine.Column[uint32](c.appender, 5)[c.n] = r.Source
	c.Count(origin, 1)
	if c.n++; c.n < engine.ChunkRows {
		return nil
	}
	c.n = 0
	return c.appender.Append(engine.ChunkRows)
}

// Flush writes what Put kept.
func (c *Change) Flush() error {
	if c.n > 0 {
		if err := c.appender.Append(c.n); err != nil {
			return err
		}
		c.n = 0
	}
	if c.appender == nil {
		return nil
	}
	return c.appender.Flush()
}

// Close lets go of what the change holds.
func (c *Change) Close() {
	if c.appender != nil {
		c.appender.Close()
	}
}
