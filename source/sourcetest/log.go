// Package sourcetest is what every kind of source must pass, with the real broker or one that speaks its protocol: nothing is lost, whichever
// end is killed, and a message that cannot be read holds nothing up.
package sourcetest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
)

// Log is what a node has recorded, by point and time as the history has it. It outlives the sources. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	samples map[string]string // by Key
	total   int               // recorded, with those that came twice
	refuse  error
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{samples: map[string]string{}} }

// Refuse has the log record nothing, as with a full disk; nil ends that.
func (l *Log) Refuse(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = err
}

// Record implements source.Admission.
func (l *Log) Record(_ context.Context, b *ingest.Batch, under point.Path) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Drop(func(s *point.Sample) error {
		if !strings.HasPrefix(string(s.Point), string(under)+"/") {
			return fault.E("sourcetest.Record", fault.Refused, string(s.Point), fmt.Errorf("may record below %q only", under))
		}
		return nil
	})
	if l.refuse != nil {
		return l.refuse
	}
	for i := range b.Samples {
		s := &b.Samples[i]
		l.samples[Key(string(s.Point), s.Time.UnixMicro())] = s.Value.String()
		l.total++
	}
	return nil
}

// Samples returns what is recorded, and how many samples came, with those that came twice.
func (l *Log) Samples() (list map[string]string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.samples), l.total
}

// Key is the form of point and time in a test.
func Key(name string, micro int64) string { return fmt.Sprintf("%s@%d", name, micro) }
