package receiver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// register is the file that records through which child the blocks of each origin come: a sequence of JSON objects,
// of which later ones take precedence. It is appended to, and rewritten when much of it is out of date. Its mutex is
// taken before Receiver.mu.
type register struct {
	file string

	mu      sync.Mutex
	entries int  // in the file
	whole   bool // false: the file is absent or its end unreliable, so it must be rewritten
}

// spareEntries is how many outdated entries the file may have before it is rewritten.
const spareEntries = 1000

// recall reads the file.
func (g *register) recall(log *slog.Logger) map[string]string {
	owners := map[string]string{}
	if g.file == "" {
		return owners
	}
	data, err := os.ReadFile(g.file)
	if err == nil {
		err = g.read(data, owners)
	}
	if g.whole = err == nil; !g.whole && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("some ways of origins are forgotten; each is learned anew by the first block", slog.String("file", g.file), slog.Any("err", err))
	}
	return owners
}

func (g *register) read(data []byte, owners map[string]string) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var some map[string]string
		err := decoder.Decode(&some)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the entry behind byte %d: %w", decoder.InputOffset(), err)
		}
		maps.Copy(owners, some)
		g.entries += len(some)
	}
}

// CheckOwners returns what is wrong with the content of the file of origins: nothing of it can be read. Its last entry
// may be incomplete after a power failure; the entries before it are valid.
func CheckOwners(content []byte) error {
	owners := map[string]string{}
	if err := new(register).read(content, owners); err != nil && len(owners) == 0 {
		return err
	}
	return nil
}

// write appends new entries, or rewrites all size entries. The caller holds mu.
func (g *register) write(fresh map[string]string, size int, all func() map[string]string) error {
	if g.whole && g.entries+len(fresh) <= 2*size+spareEntries {
		if g.extend(fresh) == nil {
			g.entries += len(fresh)
			return nil
		}
	}
	g.whole = false // until it is rewritten: an entry may be incomplete
	owners := all()
	data, err := json.Marshal(owners)
	if err == nil {
		err = new(atomicfile.Writer).Write(g.file, append(data, '\n'), 0o600)
	}
	if err != nil {
		return err
	}
	g.whole, g.entries = true, len(owners)
	return nil
}

// extend appends to the existing file, and returns when the data is on disk.
func (g *register) extend(fresh map[string]string) (err error) {
	data, err := json.Marshal(fresh)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(g.file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err = file.Write(append(data, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

// Owner returns the child through which the blocks of an origin come; "" if none have come.
func (r *Receiver) Owner(origin string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owners[origin]
}

// own records that an origin comes through a child. It is stored before the block is answered: see remember.
// The caller holds mu.
func (r *Receiver) own(child, origin string) {
	if before, known := r.owners[origin]; known {
		r.owned[before]--
	}
	r.owners[origin] = child
	r.owned[child]++
	if r.register.file != "" {
		r.fresh[origin] = child
	}
}

// remember returns when the child of an origin is recorded on disk, together with others learned meanwhile:
// one write for many.
func (r *Receiver) remember(origin string) error {
	if !r.isFresh(origin) {
		return nil
	}
	r.register.mu.Lock()
	defer r.register.mu.Unlock()
	if !r.isFresh(origin) { // stored meanwhile
		return nil
	}
	r.mu.Lock()
	fresh, size := maps.Clone(r.fresh), len(r.owners)
	r.mu.Unlock()
	err := r.register.write(fresh, size, func() map[string]string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return maps.Clone(r.owners)
	})
	if err != nil {
		return fault.E("receiver.Receive", fault.Unavailable, origin, fmt.Errorf("remember by which child it comes: %w", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, child := range fresh {
		if r.fresh[name] == child {
			delete(r.fresh, name)
		}
	}
	return nil
}

func (r *Receiver) isFresh(origin string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, fresh := r.fresh[origin]
	return fresh
}
