package judged

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/judge"
	"voltbus/point"
)

// verdict is what rules said of a block of the log, for as long as the log has it.
type verdict struct {
	Sequence uint64                  `json:"s"`
	Withheld []int                   `json:"w,omitempty"` // runs of readings: the first, and how many
	Marked   []int                   `json:"m,omitempty"` // runs of readings: the first, how many, and their quality
	Rules    map[string]judge.Counts `json:"r,omitempty"`
	Unkept   uint64                  `json:"u,omitempty"`
}

// withhold adds a reading. Readings are added in their order.
func (v *verdict) withhold(i int) {
	if n := len(v.Withheld); n > 0 && v.Withheld[n-2]+v.Withheld[n-1] == i {
		v.Withheld[n-1]++
		return
	}
	v.Withheld = append(v.Withheld, i, 1)
}

func (v *verdict) mark(i int, q point.Quality) {
	if n := len(v.Marked); n > 0 && v.Marked[n-3]+v.Marked[n-2] == i && v.Marked[n-1] == int(q) {
		v.Marked[n-2]++
		return
	}
	v.Marked = append(v.Marked, i, 1, int(q))
}

func (v *verdict) count(name string, said *judge.Verdict) {
	if v.Rules == nil {
		v.Rules = map[string]judge.Counts{}
	}
	c := v.Rules[name]
	c.Add(said)
	v.Rules[name] = c
}

// apply marks readings of the block, and leaves out those that are withheld.
func (v *verdict) apply(b *point.Block) {
	for i := 0; i+2 < len(v.Marked); i += 3 {
		for k := v.Marked[i]; k < min(v.Marked[i]+v.Marked[i+1], b.Len()); k++ {
			b.Quality[k] = point.Quality(v.Marked[i+2])
		}
	}
	at := 0
	for i := 0; i+1 < len(v.Withheld); i += 2 {
		first, end := min(v.Withheld[i], b.Len()+at), min(v.Withheld[i]+v.Withheld[i+1], b.Len()+at)
		cut(b, first-at, end-at)
		at += end - first
	}
	b.Left += uint64(at)
}

// cut removes readings. Texts and points that nothing refers to are left where they are.
func cut(b *point.Block, from, to int) {
	b.Point, b.Time, b.Kind = slices.Delete(b.Point, from, to), slices.Delete(b.Time, from, to), slices.Delete(b.Kind, from, to)
	b.Quality, b.Bits = slices.Delete(b.Quality, from, to), slices.Delete(b.Bits, from, to)
}

// verdicts are kept in a file, a line of JSON each. It is safe for concurrent use.
type verdicts struct {
	file string

	mu    sync.Mutex
	index []line // by sequence
	bytes int64
}

type line struct {
	sequence uint64
	at       int64
	size     int
}

func openVerdicts(file string) (*verdicts, error) {
	f := &verdicts{file: file}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fault.E("judged.Open", fault.Unavailable, file, err)
	}
	for lines := bufio.NewReader(bytes.NewReader(data)); ; {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // a last line without an end was not written completely: nothing of its block was sent
			return f, nil
		}
		var v verdict
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil {
			return nil, fault.E("judged.Open", fault.Corrupt, file, fmt.Errorf(
				"what rules withheld from the parent cannot be read: %w; put the file back from a copy, or remove it: then readings that are withheld and still in the log may be sent", err))
		}
		f.add(v.Sequence, len(text))
	}
}

func (f *verdicts) add(sequence uint64, size int) {
	f.index = append(f.index, line{sequence, f.bytes, size})
	f.bytes += int64(size)
}

// last returns the block of the last verdict.
func (f *verdicts) last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.index) == 0 {
		return 0
	}
	return f.index[len(f.index)-1].sequence
}

// append adds verdicts on later blocks. They are on disk when it returns.
func (f *verdicts) append(list []verdict) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	sizes := make([]int, len(list))
	for i := range list {
		before := text.Len()
		if err := json.NewEncoder(&text).Encode(&list[i]); err != nil {
			return fault.E("judged.Run", fault.Internal, f.file, err)
		}
		sizes[i] = text.Len() - before
	}
	if err := atomicfile.Append(f.file, f.bytes, text.Bytes()); err != nil {
		return fault.E("judged.Run", fault.Unavailable, f.file, err)
	}
	for i := range list {
		f.add(list[i].Sequence, sizes[i])
	}
	return nil
}

// of returns the verdict on a block, if there is one.
func (f *verdicts) of(sequence uint64) (v verdict, found bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, found := slices.BinarySearchFunc(f.index, sequence, func(l line, s uint64) int { return cmp.Compare(l.sequence, s) })
	if !found {
		return v, false, nil
	}
	file, err := os.Open(f.file)
	if err != nil {
		return v, false, fault.E("judged.Read", fault.Unavailable, f.file, err)
	}
	defer file.Close()
	text := make([]byte, f.index[i].size)
	if _, err = file.ReadAt(text, f.index[i].at); err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return v, false, fault.E("judged.Read", fault.Corrupt, f.file, err)
	}
	return v, true, nil
}

// keep forgets verdicts on blocks before first, when they are many, and on those after last.
func (f *verdicts) keep(first, last uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, _ := slices.BinarySearchFunc(f.index, first, func(l line, s uint64) int { return cmp.Compare(l.sequence, s) })
	to, also := slices.BinarySearchFunc(f.index, last, func(l line, s uint64) int { return cmp.Compare(l.sequence, s) })
	if also {
		to++
	}
	if to == len(f.index) && from < max(manyOld, len(f.index)/2) {
		return nil
	}
	rest := slices.Clone(f.index[from:max(from, to)])
	var text []byte
	if len(rest) > 0 {
		all, err := os.ReadFile(f.file)
		if err != nil {
			return fault.E("judged.Run", fault.Unavailable, f.file, err)
		}
		text = all[rest[0].at : rest[len(rest)-1].at+int64(rest[len(rest)-1].size)]
	}
	if err := (atomicfile.Writer{}).Write(f.file, text, 0o600); err != nil {
		return fault.E("judged.Run", fault.Unavailable, f.file, err)
	}
	f.index, f.bytes = nil, 0
	for _, l := range rest {
		f.add(l.sequence, l.size)
	}
	return nil
}

// manyOld is how many verdicts on dropped blocks are kept at least before the file is written anew.
const manyOld = 1000
