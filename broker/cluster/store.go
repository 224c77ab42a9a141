package cluster

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/protocol/mqtt/session"
)

// Kind is what a row of a store holds.
type Kind byte

// The kinds of rows.
const (
	SessionRow  Kind = 's'
	RetainedRow Kind = 'r'
	DeviceRow   Kind = 'd'
	MetaRow     Kind = 'm' // up to where the journal is applied; its key is empty
)

// Row is what the journal says of a session, a topic or a device.
type Row struct {
	Kind   Kind
	Key    string
	Owner  string // of a session, or the device whose message is retained
	At     uint64 // the place in the journal
	Behind uint64 // of a session: up to where it has its messages if its owner has not written it yet; 0 if it has
	Body   []byte // nil removes the row
	Same   bool   // the body stays as it is
}

// Store keeps what was read from the journal, so that the journal may drop it.
type Store interface {
	// Rows hands over the rows of a kind, of an owner if it is not empty.
	Rows(ctx context.Context, kind Kind, owner string, each func(Row) error) error
	// Row returns one row; its body is nil if there is none.
	Row(ctx context.Context, kind Kind, key string) (Row, error)
	// Page returns rows behind one, in the order of kind and key.
	Page(ctx context.Context, kind Kind, key string, most int) ([]Row, error)
	// Write keeps rows, all or none; with empty it forgets all others.
	Write(ctx context.Context, rows []Row, empty bool) error
}

// dirty are rows that the store does not have yet.
type dirty struct {
	rows    map[place]Row // guarded by the lock of the cluster
	writing sync.Mutex
}

type place struct {
	kind Kind
	key  string
}

func (d *dirty) init() { d.rows = map[place]Row{} }

func (d *dirty) put(r Row) { d.rows[place{r.Kind, r.Key}] = r }

// store writes what was applied until ctx ends.
func (c storing) store(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := c.storing.flush(ctx); err != nil && ctx.Err() == nil {
				c.cfg.Log.WarnContext(ctx, "what the brokers of the replicas have in common cannot be stored and is tried again", slog.Any("err", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// flush has the store keep everything that was applied.
func (c storing) flush(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	rows := c.rows
	if len(rows) == 0 {
		c.mu.Unlock()
		return nil
	}
	c.dirty.init()
	list := make([]Row, 0, len(rows)+1)
	for _, r := range rows {
		list = append(list, r)
	}
	list = append(list, c.storing.meta())
	c.mu.Unlock()
	err := c.cfg.Store.Write(ctx, list, false)
	if err != nil {
		c.mu.Lock()
		maps.Copy(rows, c.rows)
		c.rows = rows
		c.mu.Unlock()
	}
	return err
}

// meta is the row that says up to where the journal is applied. The lock is held.
func (c storing) meta() Row {
	w := writer{}
	w.uint(c.position)
	w.uint(uint64(len(c.tails)))
	for name, t := range c.tails {
		w.text(name)
		w.uint(t.epoch)
		w.uint(t.number)
		w.uint(t.applied)
	}
	return Row{Kind: MetaRow, At: c.position, Body: w.b}
}

func (c storing) readMeta(b []byte) error {
	r := reader{b: b}
	c.position = r.uint()
	for range r.count() {
		c.tails[r.text()] = tail{r.uint(), r.uint(), r.uint()}
	}
	if r.bad {
		return fault.E("cluster.Open", fault.Corrupt, c.Self(), errEntry)
	}
	return nil
}

// load reads what the store has.
func (c storing) load(ctx context.Context) error {
	row, err := c.cfg.Store.Row(ctx, MetaRow, "")
	if err != nil || row.Body == nil {
		return err
	}
	clear(c.sessions)
	if err := c.storing.readMeta(row.Body); err != nil {
		return err
	}
	return c.cfg.Store.Rows(ctx, SessionRow, "", func(r Row) error {
		c.sessions[r.Key] = &owned{owner: r.Owner, at: r.At, behind: r.Behind}
		return nil
	})
}

// Load hands over the own sessions and all retained messages.
func (c *Cluster) Load(ctx context.Context, sessions func(key string, state []byte) error, retained func(device string, m *session.Message)) error {
	err := c.cfg.Store.Rows(ctx, SessionRow, c.Self(), func(r Row) error { return sessions(r.Key, r.Body) })
	if err != nil {
		return err
	}
	return c.cfg.Store.Rows(ctx, RetainedRow, "", func(r Row) error {
		m, err := session.ParseMessage(r.Body)
		if err != nil {
			return fault.E("cluster.Load", fault.Corrupt, r.Key, err)
		}
		retained(r.Owner, m)
		return nil
	})
}

// page answers another replica that was away for longer than the journal reaches back: the rows behind one.
func (c storing) page(_ string, data []byte) []byte {
	const most = 200
	r := reader{b: data}
	kind, key := Kind(r.byte()), r.text()
	ctx, cancel := context.WithTimeout(context.Background(), giveTime)
	defer cancel()
	if err := c.storing.flush(ctx); r.bad || err != nil {
		return nil
	}
	var rows []Row
	var err error
	if kind == MetaRow {
		var one Row
		one, err = c.cfg.Store.Row(ctx, MetaRow, "")
		rows = append(rows, one)
	} else {
		rows, err = c.cfg.Store.Page(ctx, kind, key, most)
	}
	if err != nil {
		return nil
	}
	w := writer{[]byte{entryVersion}}
	for i, row := range rows {
		if i > 0 && len(w.b)+len(row.Body) > mostEntry {
			break
		}
		w.b = append(w.b, byte(row.Kind))
		w.text(row.Key)
		w.text(row.Owner)
		w.uint(row.At)
		w.uint(row.Behind)
		w.bytes(row.Body)
	}
	return w.b
}

func parsePage(b []byte) (rows []Row, err error) {
	r := reader{b: b}
	if r.byte() != entryVersion {
		return nil, errEntry
	}
	for len(r.b) > 0 {
		rows = append(rows, Row{Kind: Kind(r.byte()), Key: r.text(), Owner: r.text(), At: r.uint(), Behind: r.uint(), Body: r.bytes()})
	}
	if r.bad {
		return nil, errEntry
	}
	return rows, nil
}

// bridge asks another replica for what the journal does not have any more.
func (c storing) bridge(ctx context.Context) error {
	first, last, err := c.cfg.Journal.Bounds(ctx)
	if err != nil || last == 0 || c.position+1 >= first {
		return err
	}
	c.cfg.Log.InfoContext(ctx, "what the brokers have in common is read from another replica", slog.Uint64("from", c.position+1), slog.Uint64("journal", first))
	for {
		for _, name := range c.cfg.Mesh.Others() {
			if err = c.storing.pages(ctx, name); err == nil {
				return c.storing.load(ctx)
			}
		}
		select {
		case <-ctx.Done():
			return fault.E("cluster.Open", fault.Unavailable, c.Self(), err)
		case <-time.After(readAgain):
		}
	}
}

// pages replaces the rows of this replica by those of another one.
func (c storing) pages(ctx context.Context, replica string) error {
	ask := func(kind Kind, key string) ([]Row, error) {
		ctx, cancel := context.WithTimeout(ctx, moveTime)
		defer cancel()
		w := writer{[]byte{byte(kind)}}
		w.text(key)
		answer, err := c.cfg.Mesh.Ask(ctx, replica, "page", w.b)
		if err != nil {
			return nil, err
		}
		return parsePage(answer)
	}
	meta, err := ask(MetaRow, "") // first: what changes meanwhile stands in the journal behind it
	if err != nil {
		return err
	}
	for rows := []Row(nil); ; {
		at := Row{}
		if len(rows) > 0 {
			at = rows[len(rows)-1]
		}
		next, err := ask(at.Kind, at.Key)
		if err != nil {
			return err
		}
		if err := c.cfg.Store.Write(ctx, next, rows == nil); err != nil {
			return err
		}
		if rows = next; len(rows) == 0 {
			return c.cfg.Store.Write(ctx, meta, false)
		}
	}
}
