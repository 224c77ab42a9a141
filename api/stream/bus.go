package stream

import (
	"encoding/json"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
)

// Bus reports what happens on the bus.
type Bus interface {
	// Watch calls deliver with every message whose subject matches, until stop is called, and
	// not after it has returned; deliver returns at once and does not keep the data. dropped
	// counts what came too fast. fault.Invalid: the subject may not be watched.
	Watch(subject string, deliver func(subject string, data []byte)) (stop func(), dropped func() int, err error)
}

// ratesEvery is how often a watcher gets rates.
const ratesEvery = time.Second

// busStream sends a sample of what is on the bus, and each second the rates by subject.
func (s *Streams) busStream(w http.ResponseWriter, r *exchange.Request) error {
	if s.Bus == nil {
		return exchange.Absent("bus")
	}
	in := exchange.Read(r)
	subject, ok := in.Text("subject")
	if in.Err != nil {
		return in.Err
	}
	if !ok || subject == "" {
		subject = "live.>"
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	c := newCounter(time.Now())
	stop, dropped, err := s.Bus.Watch(subject, func(subject string, data []byte) { c.see(time.Now(), subject, data) })
	if err != nil {
		return err
	}
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for what the server writes at the end
	return s.report(p, r, c, dropped)
}

// report sends what was counted, each second, until the reader goes or its login ends.
func (s *Streams) report(w *exchange.Patient, r *exchange.Request, c *counter, dropped func() int) error {
	tick := time.NewTicker(ratesEvery)
	defer tick.Stop()
	if w.Send([]byte(": connected\n\n")) != nil {
		return nil // the reader has gone, which is how streams end
	}
	for {
		select {
		case <-r.Context().Done():
			return s.LastEvent(w, r, r.Context().Err())
		case now := <-tick.C:
			messages, rates := c.take(now)
			rates.Dropped = int64(dropped())
			if w.Send(busEvents(messages, rates)) != nil {
				return nil // as above
			}
		}
	}
}

func busEvents(messages []answer.BusMessage, rates answer.BusRates) []byte {
	var buf []byte
	for i := range messages {
		if b, err := json.Marshal(&messages[i]); err == nil { // texts and numbers always can be
			buf = exchange.AppendEvent(buf, "message", b)
		}
	}
	if b, err := json.Marshal(rates); err == nil {
		buf = exchange.AppendEvent(buf, "rates", b)
	}
	return buf
}
