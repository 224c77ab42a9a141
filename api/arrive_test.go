package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"voltbus/api/exchange"
)

// deadlines is an answer whose connection remembers the deadline of what is read.
type deadlines struct {
	http.ResponseWriter
	until time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.until = t
	return nil
}

// What has come earns time for what is to come, so that a long body may take long.
func TestTheDeadlineOfABodyMovesWithWhatHasCome(t *testing.T) {
	const size = 10 * bodyRate
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	w := &deadlines{}
	began := time.Now()
	done := arrive(w, r, time.Minute)
	if left := w.until.Sub(began); left < time.Minute || left > 2*time.Minute {
		t.Errorf("before the first byte it has %v", left)
	}
	if _, err := io.ReadFull(r.Body, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if left := w.until.Sub(began); left < time.Minute+10*time.Second || left > 2*time.Minute {
		t.Errorf("after 10 s worth of bytes it has %v", left)
	}
	if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || !w.until.IsZero() {
		t.Errorf("at its end (%v) the deadline is %v", err, w.until)
	}
	if done(); !w.until.IsZero() {
		t.Errorf("after the answer the deadline is %v", w.until)
	}
}

// stopped is a body whose deadline has passed.
type stopped struct{}

func (stopped) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
func (stopped) Close() error             { return nil }

func TestABodyThatStoppedSaysSo(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", stopped{})
	if err != nil {
		t.Fatal(err)
	}
	w := &deadlines{}
	done := arrive(w, r, time.Minute)
	_, err = io.ReadAll(r.Body)
	if p := exchange.ProblemOf(err, "/"); p.Status != http.StatusRequestTimeout || !strings.Contains(p.Detail, "16 kB a second") {
		t.Errorf("it is told as %+v", p)
	}
	done()
	if left := time.Until(w.until); w.until.IsZero() || left > 2*time.Second {
		t.Errorf("after the answer the rest of the body has %v", left)
	}
}
