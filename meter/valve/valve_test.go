package valve_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/valve"
)

type taker struct{ err error }

func (t taker) Take(context.Context, string, string, []meter.Reading) (gate.Taken, error) {
	return gate.Taken{}, t.err
}

func TestAMessagePassesTheValvesInTheirOrder(t *testing.T) {
	for _, err := range []error{nil, errors.New("refused")} {
		g := valve.At(taker{err})
		underWay := 0
		var passed []*valve.Passage
		h := valve.Watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/other" {
				return
			}
			if _, got := g.Take(r.Context(), "c1", "", make([]meter.Reading, 3)); !errors.Is(got, err) {
				t.Errorf("the gate answered %v", got)
			}
			if underWay != 1 || len(passed) != 0 {
				t.Errorf("before the reply, %d messages are under way, and %d have passed", underWay, len(passed))
			}
			w.WriteHeader(http.StatusOK)
		}), func() func(*valve.Passage) {
			underWay++
			return func(p *valve.Passage) { passed = append(passed, p) }
		})
		for _, path := range []string{"/", "/other"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
			if path == "/" && !w.Flushed {
				t.Error("the reply is not sent when it is said to be")
			}
		}
		if len(passed) != 1 {
			t.Fatalf("%d messages passed, want the one with readings", len(passed))
		}
		if p := passed[0]; p.Readings != 3 || p.Entered.Before(p.Seen) || p.Left.Before(p.Entered) || p.Sent.Before(p.Left) {
			t.Errorf("%+v", p)
		}
	}
}

func TestWithoutSomebodyToTellNothingStandsBetween(t *testing.T) {
	h := http.NewServeMux()
	if got := valve.Watch(h, nil); got != http.Handler(h) {
		t.Errorf("got %T", got)
	}
	if _, err := valve.At(taker{}).Take(t.Context(), "c1", "", nil); err != nil {
		t.Error(err)
	}
}
