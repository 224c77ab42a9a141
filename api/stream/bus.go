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
	// Watch calls deliver with every message whose subject matches, until stop is called, and not
	// after it has returned; deliver returns at once and does not keep the data. dropped counts the
	// messages that came too fast. It returns fault.Invalid if the subject may not be watched.
	Watch(subject string, deliver func(subject string, data []byte)) (stop func(), dropped func() int, err error)
}

// ratesEvery is the interval at which a watcher gets rates.
const ratesEvery = time.Second

// busStream sends a sample of the messages on the bus, and each second the rates by subject.
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
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	return s.report(p, r, c, dropped)
}

// report sends the counts each second, until the client disconnects or its login ends.
func (s *Streams) report(w *exchange.Patient, r *exchange.Request, c *counter, dropped func() int) error {
	tick := time.NewTicker(ratesEvery)
	defer tick.Stop()
	if w.Send([]byte(": connected\n\n")) != nil {
		return nil // the client has disconnected, which is how streams end
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
		if b, err := json.Marshal(&messages[i]); err == nil { // strings and numbers cannot fail
			buf = exchange.AppendEvent(buf, "message", b)
		}
	}
	if b, err := json.Marshal(rates); err == nil {
		buf = exchange.AppendEvent(buf, "rates", b)
	}
	return buf
}
