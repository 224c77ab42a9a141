package duckdb

import (
	"context"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// strays counts the readings whose channel is not registered yet.
type strays struct {
	all uint64
	of  map[string]uint64 // by the origin of the block in which they came; "" for this node
}

// strayChange is what one transaction changes of them.
type strayChange struct {
	before   uint64
	added    map[string]int64 // by origin
	sum      int64
	appender *engine.Appender
	n        int // rows of the appender's chunk
}

func (s *strays) change() *strayChange { return &strayChange{before: s.all, added: map[string]int64{}} }

func (s *strays) publish(c *strayChange) {
	s.all = c.all()
	for origin, n := range c.added {
		if s.of[origin] += uint64(n); s.of[origin] == 0 {
			delete(s.of, origin)
		}
	}
}

func (c *strayChange) all() uint64 { return c.before + uint64(c.sum) }

func (c *strayChange) count(origin string, n int64) {
	c.added[origin] += n
	c.sum += n
}

// put keeps a reading until its channel is registered.
func (c *strayChange) put(conn *engine.Conn, key store.ChannelKey, end int64, r row, origin string) (err error) {
	if c.appender == nil {
		c.appender, err = conn.Appender("strays", duck.TypeVarchar, duck.TypeUInteger, duck.TypeBigInt, duck.TypeDouble, duck.TypeUInteger, duck.TypeUInteger)
		if err != nil {
			return err
		}
	}
	c.appender.Text(0, c.n, key.Meter)
	engine.Column[uint32](c.appender, 1)[c.n] = uint32(key.Channel)
	engine.Column[int64](c.appender, 2)[c.n] = end
	engine.Column[float64](c.appender, 3)[c.n] = r.value
	engine.Column[uint32](c.appender, 4)[c.n] = r.recorded
	engine.Column[uint32](c.appender, 5)[c.n] = r.source
	c.count(origin, 1)
	if c.n++; c.n < engine.ChunkRows {
		return nil
	}
	c.n = 0
	return c.appender.Append(engine.ChunkRows)
}

func (c *strayChange) flush() error {
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

func (c *strayChange) close() {
	if c.appender != nil {
		c.appender.Close()
	}
}

func loadStrays(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT source, count(*)::BIGINT FROM strays GROUP BY source", func(k *engine.Chunk) error {
		for i := range k.Rows {
			n := uint64(engine.Numbers[int64](k, 1)[i])
			s.strays.of[store.OriginOf(s.sources[engine.Numbers[uint32](k, 0)[i]].Origin.Who)] += n
			s.strays.all += n
		}
		return nil
	})
}

// Waiting implements store.Keeper.
func (s *Store) Waiting(meant func(origin string) bool) (of, all uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for origin, n := range s.strays.of {
		if meant(origin) {
			of += n
		}
	}
	return of, s.strays.all
}
