package sender

import (
	"testing"
	"time"
)

func TestTheWindowOpensAsFarAsAnswersComeSoon(t *testing.T) {
	now := time.Unix(0, 0)
	// answer is a window full of frames that a link of so many octets a second carries.
	answer := func(w *window, rate, frame int64) {
		took := time.Duration(w.open) * time.Second / time.Duration(rate)
		sent := now
		now = now.Add(took)
		w.answered(&flying{sent: sent, octets: frame}, w.open, now)
	}
	for _, c := range []struct {
		name        string
		rate        int64
		least, most int64
	}{
		{"a fast link opens it wholly", 100 << 20, 16 << 20, 16 << 20},
		{"a slow link holds what it carries in a second or two", 512 << 10, 200 << 10, 1100 << 10},
		{"a very slow one has the least", 4 << 10, leastWindow, 128 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWindow(16<<20, 0, 0)
			w.answered(&flying{sent: now, octets: 8 << 10}, 8<<10, now.Add((8<<10)*time.Second/time.Duration(c.rate))) // the first frame
			for range 2000 {
				answer(&w, c.rate, 16<<10)
			}
			if w.open < c.least || w.open > c.most {
				t.Errorf("%d octets may be under way, want %d to %d", w.open, c.least, c.most)
			}
		})
	}
	t.Run("a link that is far does not close it", func(t *testing.T) {
		w := newWindow(16<<20, 0, 0)
		for range 100 {
			now = now.Add(3 * time.Second)
			w.answered(&flying{sent: now.Add(-3 * time.Second), octets: 16 << 10}, w.open, now)
		}
		if w.open != firstWindow+100*16<<10 {
			t.Errorf("%d octets may be under way", w.open)
		}
	})
	t.Run("little that is under way says nothing", func(t *testing.T) {
		w := newWindow(16<<20, 1<<20, 0)
		w.answered(&flying{sent: now, octets: 100}, 100, now.Add(time.Millisecond))
		if w.open != firstWindow || w.most != 1<<20 {
			t.Errorf("the window is %+v", w)
		}
	})
}
