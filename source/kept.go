package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// The bounds of what is kept of one source. Beyond them the oldest make room.
const (
	mostKept    = 1000
	mostBytes   = 16 << 20
	mostPayload = 1 << 20
	mostReason  = 500
)

// folder holds the files of sources in the data directory.
const folder = "sources"

// Kept is a message that could not be read.
type Kept struct {
	Number  uint64    `json:"number"` // in the order in which they were kept
	Topic   string    `json:"topic"`
	Place   string    `json:"place"`
	Time    time.Time `json:"time"` // of readings without one
	At      time.Time `json:"at"`   // when it could not be read
	Reason  string    `json:"reason"`
	Payload []byte    `json:"payload"`
	Size    int       `json:"size"` // of the whole payload, of which the beginning is kept
}

// keptFile keeps messages, a line of JSON each.
type keptFile struct {
	file string

	mu    sync.Mutex
	count int
	bytes int64
	last  uint64 // the number given last
}

func openKept(dir, name string) (*keptFile, error) {
	f := &keptFile{file: filepath.Join(dir, folder, name+".unread")}
	if err := os.MkdirAll(filepath.Dir(f.file), 0o700); err != nil {
		return nil, fault.E("sources.Open", fault.Unavailable, f.file, err)
	}
	_, err := f.all()
	return f, err
}

// all returns the messages that are kept. A line that cannot be read, such as a last one that was not written completely, is left out: its
// message was not answered, or it is only for people.
func (f *keptFile) all() (list []Kept, err error) {
	f.count, f.bytes = 0, 0
	file, err := os.Open(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.E("sources.Unread", fault.Unavailable, f.file, err)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			f.count = len(list)
			return list, nil
		}
		if err != nil {
			return nil, fault.E("sources.Unread", fault.Unavailable, f.file, err)
		}
		f.bytes += int64(len(line))
		var one Kept
		if json.Unmarshal(line, &one) == nil {
			list, f.last = append(list, one), max(f.last, one.Number)
		}
	}
}

// add appends messages, and returns how many made room. They are on disk when it returns.
func (f *keptFile) add(list []Kept) (dropped int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range list {
		f.last++
		list[i].Number = f.last
	}
	text, err := encode(list)
	if err != nil {
		return 0, err
	}
	if f.count+len(list) > mostKept || f.bytes+int64(len(text)) > mostBytes {
		return f.makeRoom(list)
	}
	if err := atomicfile.Append(f.file, f.bytes, text); err != nil {
		return 0, fault.E("sources.Keep", fault.Unavailable, f.file, err)
	}
	f.count, f.bytes = f.count+len(list), f.bytes+int64(len(text))
	return 0, nil
}

// makeRoom writes the file anew with the newest messages, so few that there is room for more.
func (f *keptFile) makeRoom(list []Kept) (dropped int, err error) {
	old, err := f.all()
	if err != nil {
		return 0, err
	}
	list = append(old, list...)
	from, size := len(list), 0
	for from > 0 && len(list)-from < mostKept*3/4 {
		if size += len(list[from-1].Payload)*4/3 + mostReason; size > mostBytes*3/4 { // in base64
			break
		}
		from--
	}
	return from, f.replace(list[from:])
}

func (f *keptFile) replace(list []Kept) error {
	text, err := encode(list)
	if err != nil {
		return err
	}
	if err := (atomicfile.Writer{}).Write(f.file, text, 0o600); err != nil {
		return fault.E("sources.Keep", fault.Unavailable, f.file, err)
	}
	f.count, f.bytes = len(list), int64(len(text))
	return nil
}

func encode(list []Kept) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return nil, fault.E("sources.Keep", fault.Internal, list[i].Topic, err)
		}
	}
	return text.Bytes(), nil
}

func (f *keptFile) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// page returns the oldest ones after skipping some.
func (f *keptFile) page(skip, limit int) ([]Kept, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := f.all()
	list = list[min(skip, len(list)):]
	return list[:min(limit, len(list))], err
}

// clear forgets all, and returns how many.
func (f *keptFile) clear() (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.count
	return n, f.replace(nil)
}

// change replaces some, by their numbers, and forgets those for which nothing is there.
func (f *keptFile) change(some map[uint64]*Kept) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := f.all()
	if err != nil {
		return err
	}
	rest := list[:0]
	for i := range list {
		switch changed, asked := some[list[i].Number]; {
		case !asked:
			rest = append(rest, list[i])
		case changed != nil:
			rest = append(rest, *changed)
		}
	}
	return f.replace(rest)
}

func clip(text string) string {
	if len(text) <= mostReason {
		return text
	}
	return strings.ToValidUTF8(text[:mostReason], "") + "…"
}

// keptOf returns a message that arrived at a time as it is kept.
func keptOf(m *Message, reason string, now time.Time) Kept {
	return Kept{
		Topic: m.Topic, Place: m.Place, Time: m.Time, At: now.UTC(), Reason: clip(reason), Size: len(m.Payload),
		Payload: bytes.Clone(m.Payload[:min(len(m.Payload), mostPayload)]),
	}
}
