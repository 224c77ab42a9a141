package bus_test

import (
	"testing"
)

func TestWhoAsksTheLogWhileItRecoversWaits(t *testing.T) {
	f := open(t, t.TempDir(), "")
	l := openLog(t, f, 1<<20)
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	id := l.ID()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			data, last, err := l.Last(t.Context())
			if err != nil || string(data) != "a" || last != 1 {
				t.Errorf("after %d answers: %q, %d, %v", n, data, last, err)
			}
			if _, err := l.Written(t.Context(), 1); err != nil || l.ID() != id {
				t.Errorf("the first block of %s: %v", l.ID(), err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 20 {
		if err := l.Recover(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
}
