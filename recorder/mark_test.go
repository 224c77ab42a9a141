package recorder_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
	"voltbus/recorder"
)

// countingLog counts the entries that are read.
type countingLog struct {
	*memoryLog
	read int
}

func (l *countingLog) Scan(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	return l.memoryLog.Scan(ctx, from, func(sequence uint64, data []byte) error {
		l.read++
		return deliver(sequence, data)
	})
}

// marked is a log of ten own blocks and ten of a child, with a mark behind all but the last four.
func marked(t *testing.T) (*countingLog, recorder.Mark) {
	t.Helper()
	l := &countingLog{memoryLog: &memoryLog{}}
	own, other := child{origin: "node"}, child{origin: "child"}
	var mark recorder.Mark
	for i := range 10 {
		for _, c := range []*child{&own, &other} {
			_, data := c.next(t, 1, 0, 2)
			l.entries = append(l.entries, data)
		}
		if i == 7 {
			mark = markOf(t, l.memoryLog)
		}
	}
	return l, mark
}

// markOf returns the mark that a recorder makes which finds the log.
func markOf(t *testing.T, l *memoryLog) (mark recorder.Mark) {
	t.Helper()
	_, stop := startAt(t, recorder.Config{Mark: func(m recorder.Mark) error {
		mark = m
		return nil
	}}, l)
	stop()
	mark.Log = "log"
	return mark
}

func TestAStartReadsOnlyWhatIsBehindTheMark(t *testing.T) {
	l, mark := marked(t)
	begin, err := recorder.Resume(t.Context(), l, "log", mark, "node")
	want := recorder.Start{
		Own: recorder.Position{Sequence: 10, Samples: 20}, Others: map[string]recorder.Position{"child": {Sequence: 10, Samples: 20}},
	}
	if diff := cmp.Diff(want, begin); err != nil || diff != "" {
		t.Errorf("the start (-want +got): %s, %v", diff, err)
	}
	if l.read != 5 { // with the entry of the mark
		t.Errorf("%d entries were read, want 5", l.read)
	}
}

// What nobody can check is not believed, but for the own numbers, which must not be used twice: blocks of
// a child that are not in the log are asked for again.
func TestAMarkOfAnotherLogCountsForOwnNumbersOnly(t *testing.T) {
	for name, change := range map[string]func(*countingLog, *recorder.Mark){
		"the log has another name":          func(_ *countingLog, m *recorder.Mark) { m.Log = "before" },
		"another entry stands at the mark":  func(_ *countingLog, m *recorder.Mark) { m.Sum++ },
		"the entry of the mark was dropped": func(l *countingLog, m *recorder.Mark) { clear(l.entries[:m.Sequence]) },
		"the log ends before the mark":      func(l *countingLog, m *recorder.Mark) { l.entries = l.entries[:m.Sequence-4] },
		"the log is empty":                  func(l *countingLog, _ *recorder.Mark) { l.entries = nil },
	} {
		t.Run(name, func(t *testing.T) {
			l, mark := marked(t)
			change(l, &mark)
			mark.Positions["gone"] = recorder.Position{Sequence: 9, Samples: 90}
			begin, err := recorder.Resume(t.Context(), l, "log", mark, "node")
			if err != nil {
				t.Fatal(err)
			}
			whole, err := recorder.FindStart(t.Context(), l, 1, nil, "node")
			if err != nil {
				t.Fatal(err)
			}
			if whole.Own.Sequence < mark.Positions["node"].Sequence {
				whole.Own = mark.Positions["node"]
			}
			if diff := cmp.Diff(whole, begin); diff != "" {
				t.Errorf("the start (-want +got): %s", diff)
			}
		})
	}
}

// A block whose answer never came may be on disk, and a mark behind it would have its number used twice.
func TestNoMarkStandsBehindABlockWithoutAnAnswer(t *testing.T) {
	for name, log := range map[string]*memoryLog{
		"the log failed":              {script: func() outcome { return answerLost }},
		"the node ended without it":   {latency: time.Hour},
		"others were answered behind": {script: failFirst()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var marks []recorder.Mark
				r, stop := startAt(t, recorder.Config{MarkEvery: 1, MaxSamples: 1, Mark: func(m recorder.Mark) error {
					marks = append(marks, m)
					return nil
				}}, log)
				r.Offer([]point.Sample{sampleOf("p", 1), sampleOf("p", 2)})
				stop()
				if len(log.entries) == 0 || len(marks) > 0 {
					t.Errorf("%d entries are on disk without an answer, and marks are %+v", len(log.entries), marks)
				}
			})
		})
	}
}

// failFirst has the answer of the first block be lost.
func failFirst() func() outcome {
	what := answerLate
	return func() outcome {
		defer func() { what = stored }()
		return what
	}
}

func TestAMarkIsReadAsItWasWritten(t *testing.T) {
	_, mark := marked(t)
	f := recorder.MarkFile(filepath.Join(t.TempDir(), "mark.json"))
	if m, err := f.Read(); err != nil || m.Sequence != 0 {
		t.Fatalf("without a file: %+v, %v", m, err)
	}
	if err := f.Write(mark); err != nil {
		t.Fatal(err)
	}
	m, err := f.Read()
	if diff := cmp.Diff(mark, m); err != nil || diff != "" {
		t.Errorf("read (-want +got): %s, %v", diff, err)
	}
	if err := os.WriteFile(string(f), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := f.Read(); err == nil || m.Sequence != 0 || !strings.HasPrefix(err.Error(), "read the mark in the log") {
		t.Errorf("of a damaged file: %+v, %v", m, err)
	}
}
