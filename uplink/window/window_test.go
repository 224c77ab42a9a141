package window

import (
	"testing"
	"time"
)

func TestTheWindowOpensAsFarAsAnswersComeSoon(t *testing.T) {
	now := time.Unix(0, 0)
	// answer is a window full of frames that a link of so many bytes a second carries.
	answer := func(w *Window, rate, frame int64) {
		took := time.Duration(w.Open) * time.Second / time.Duration(rate)
		sent := now
		now = now.Add(took)
		w.Answered(sent, frame, w.Open, now)
	}
	for _, c := range []struct {
		name        string
		rate        int64
		least, most int64
	}{
		{"a fast link opens it wholly", 100 << 20, 16 << 20, 16 << 20},
		{"a slow link holds what it carries in a second or two", 512 << 10, 200 << 10, 1100 << 10},
		{"a very slow one has the least", 4 << 10, Least, 128 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := New(16<<20, 0, time.Second)
			w.Answered(now, 8<<10, 8<<10, now.Add((8<<10)*time.Second/time.Duration(c.rate))) // the first frame
			for range 2000 {
				answer(&w, c.rate, 16<<10)
			}
			if w.Open < c.least || w.Open > c.most {
				t.Errorf("%d bytes may be under way, want %d to %d", w.Open, c.least, c.most)
			}
		})
	}
	t.Run("a link that is far does not close it", func(t *testing.T) {
		w := New(16<<20, 0, time.Second)
		for range 100 {
			now = now.Add(3 * time.Second)
			w.Answered(now.Add(-3*time.Second), 16<<10, w.Open, now)
		}
		if w.Open != First+100*16<<10 {
			t.Errorf("%d bytes may be under way", w.Open)
		}
	})
	t.Run("little that is under way says nothing", func(t *testing.T) {
		w := New(1<<20, 0, time.Second)
		w.Answered(now, 100, 100, now.Add(time.Millisecond))
		if w.Open != First || w.Most != 1<<20 {
			t.Errorf("the window is %+v", w)
		}
	})
}
