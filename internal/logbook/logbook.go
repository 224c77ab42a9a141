// Package logbook keeps a program's newest log records in memory, for reading and following.
package logbook

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Record is a record of the log.
type Record struct {
	// Number increases with each record, even across a restart of the program.
	Number  uint64
	Time    time.Time
	Level   slog.Level
	Message string
	Attrs   json.RawMessage // an object; nil without attributes
}

// Bounds of a record; longer strings are truncated.
const (
	maxMessage = 4 << 10
	maxAttrs   = 16 << 10
	overhead   = 120 // approximate bytes of a record besides its strings
)

func (r *Record) size() int { return overhead + len(r.Message) + len(r.Attrs) }

// Handler is a slog.Handler that keeps records, and passes them to another handler. It is safe for concurrent
// use.
type Handler struct {
	*pages
	next slog.Handler
	json slog.Handler // writes attributes to pages.line; used with pages.mu held
}

// pages are the records that all handlers of a book share.
type pages struct {
	most  int // bytes
	least slog.Level

	mu      sync.Mutex
	line    bytes.Buffer
	records []Record
	octets  int
	begun   uint64 // the number before the first
	number  uint64
	news    chan struct{} // closed by the next record
}

// New returns a Handler that keeps the newest records of at least the level, within so many bytes, in
// addition to passing records to next. Values of attributes for whose names secret returns true are hidden.
func New(next slog.Handler, least slog.Level, octets int, secret func(name string) bool) *Handler {
	begun := uint64(time.Now().UnixMicro())
	p := &pages{most: octets, least: least, begun: begun, number: begun, news: make(chan struct{})}
	options := &slog.HandlerOptions{Level: slog.Level(-1 << 10), ReplaceAttr: replacer(secret)}
	return &Handler{pages: p, next: next, json: slog.NewJSONHandler(&p.line, options).WithGroup(attrsKey)}
}

const attrsKey = "a"

// replacer omits everything but the attributes, and hides secrets.
func replacer(secret func(string) bool) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) == 0:
			return slog.Attr{}
		case secret(a.Key):
			return slog.String(a.Key, "(hidden)")
		}
		return a
	}
}

// Enabled implements slog.Handler.
func (b *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= b.least || b.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (b *Handler) Handle(ctx context.Context, r slog.Record) error {
	r = shortened(r)
	b.keep(ctx, &r)
	if !b.next.Enabled(ctx, r.Level) {
		return nil
	}
	return b.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (b *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Handler{pages: b.pages, next: b.next.WithAttrs(attrs), json: b.json.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (b *Handler) WithGroup(name string) slog.Handler {
	return &Handler{pages: b.pages, next: b.next.WithGroup(name), json: b.json.WithGroup(name)}
}

// keep stores a record, and drops the oldest ones beyond the limit.
func (b *Handler) keep(ctx context.Context, r *slog.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.number++
	kept := Record{Number: b.number, Time: r.Time.UTC(), Level: r.Level, Message: cut(r.Message, maxMessage), Attrs: b.attrs(ctx, r)}
	b.records = append(b.records, kept)
	b.octets += kept.size()
	gone := 0
	for ; b.octets > b.most && gone < len(b.records)-1; gone++ {
		b.octets -= b.records[gone].size()
		b.records[gone] = Record{}
	}
	b.records = b.records[gone:]
	close(b.news)
	b.news = make(chan struct{})
}

// attrs returns the attributes of a record as JSON.
func (b *Handler) attrs(ctx context.Context, r *slog.Record) json.RawMessage {
	b.line.Reset()
	var line struct {
		Attrs json.RawMessage `json:"a"`
	}
	if b.json.Handle(ctx, *r) != nil || json.Unmarshal(b.line.Bytes(), &line) != nil {
		return nil // attributes that cannot be encoded are in the program's log
	}
	if b.line.Cap() > 4*maxAttrs {
		b.line = bytes.Buffer{}
	}
	if len(line.Attrs) > maxAttrs {
		short, err := json.Marshal(map[string]any{"octets": len(line.Attrs), "begins": cut(string(line.Attrs), maxMessage)})
		if err != nil {
			return nil
		}
		return short
	}
	return line.Attrs
}

// maxText is how much of a string in an attribute is kept: names and errors may repeat received text. The stack of a defect is kept whole.
const (
	maxText  = 1 << 10
	stackKey = "stack"
)

// shortened returns the record with the strings in its attributes limited to maxText.
func shortened(r slog.Record) slog.Record {
	long := len(r.Message) > maxMessage
	r.Attrs(func(a slog.Attr) bool {
		text, is := textOf(a)
		long = long || (is && len(text) > maxText)
		return !long
	})
	if !long {
		return r
	}
	out := slog.NewRecord(r.Time, r.Level, cut(r.Message, maxMessage), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if text, is := textOf(a); is && len(text) > maxText {
			a = slog.String(a.Key, cut(text, maxText))
		}
		out.AddAttrs(a)
		return true
	})
	return out
}

// textOf returns the text of a string or error attribute.
func textOf(a slog.Attr) (string, bool) {
	if a.Key == stackKey {
		return "", false
	}
	v := a.Value.Resolve()
	if v.Kind() == slog.KindString {
		return v.String(), true
	}
	if err, is := v.Any().(error); is {
		return err.Error(), true
	}
	return "", false
}

// cut truncates a string between two runes.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return strings.Clone(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
