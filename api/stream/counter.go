package stream

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"voltbus/api/answer"
)

// The most that a watcher of the bus gets each second.
const (
	maxShown    = 50   // messages
	maxText     = 4096 // bytes of a message
	maxCounted  = 2000 // subjects counted separately
	maxSubjects = 200  // the busiest of these, which are listed
)

// counter counts messages by subject and keeps the first ones. It is safe for concurrent use.
type counter struct {
	mu       sync.Mutex
	began    time.Time
	total    answer.Traffic
	subjects map[string]*answer.Traffic
	others   int64 // messages on subjects beyond maxCounted
	shown    []answer.BusMessage
}

func newCounter(now time.Time) *counter {
	return &counter{began: now, subjects: make(map[string]*answer.Traffic)}
}

// see counts a message.
func (c *counter) see(now time.Time, subject string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Messages++
	c.total.Bytes += int64(len(data))
	t := c.subjects[subject]
	switch {
	case t != nil:
	case len(c.subjects) < maxCounted:
		t = &answer.Traffic{}
		c.subjects[subject] = t
	default:
		c.others++
	}
	if t != nil {
		t.Messages++
		t.Bytes += int64(len(data))
	}
	if len(c.shown) < maxShown {
		c.shown = append(c.shown, seen(now, subject, data))
	}
}

func seen(now time.Time, subject string, data []byte) answer.BusMessage {
	m := answer.BusMessage{Time: now.UTC(), Subject: subject, Bytes: len(data), Cut: len(data) > maxText}
	head := data
	if m.Cut {
		head = data[:maxText]
		for n := 0; n < utf8.UTFMax && len(head) > 0 && !utf8.Valid(head); n++ { // not in the middle of a character
			head = head[:len(head)-1]
		}
	}
	if m.Binary = !utf8.Valid(head); m.Binary {
		head = data[:min(len(data), maxText)]
	}
	m.Text = strings.ToValidUTF8(string(head), "\uFFFD")
	return m
}

// take returns what was seen since the last call, and starts over.
func (c *counter) take(now time.Time) ([]answer.BusMessage, answer.BusRates) {
	c.mu.Lock()
	shown, subjects, others := c.shown, c.subjects, c.others
	rates := answer.BusRates{
		Time: now.UTC(), Seconds: now.Sub(c.began).Seconds(), Total: c.total,
		Hidden: c.total.Messages - int64(len(shown)), Subjects: []answer.SubjectRate{},
	}
	c.began, c.total, c.shown, c.others = now, answer.Traffic{}, nil, 0
	c.subjects = make(map[string]*answer.Traffic, len(subjects))
	c.mu.Unlock()
	for name, t := range subjects {
		rates.Subjects = append(rates.Subjects, answer.SubjectRate{Subject: name, Traffic: *t})
	}
	slices.SortFunc(rates.Subjects, func(a, b answer.SubjectRate) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Subject, b.Subject))
	})
	if len(rates.Subjects) > maxSubjects {
		rates.More = len(rates.Subjects) - maxSubjects
		rates.Subjects = rates.Subjects[:maxSubjects]
	}
	if others > 0 {
		rates.More++
	}
	return shown, rates
}
