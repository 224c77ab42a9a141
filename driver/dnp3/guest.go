package dnp3

import (
	"net"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// welcome serves the connection of a device that dialled in, unless there are too many.
func (l *line) welcome(stream net.Conn) bool {
	w := newWire(stream, l.pool)
	w.find = l.find
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.guests) >= len(l.stations)+maxStrangers {
		return false
	}
	l.guests[w] = struct{}{}
	w.held = l.held
	l.running.Go(func() {
		w.run(func(time.Time, *station.Output) {})
		l.farewell(w)
	})
	l.running.Go(func() { l.ask(w) })
	return true
}

// ask finds out who is there when a device that dialled in waits to be spoken to: whoever of the
// missing stations it is answers with its link status.
func (l *line) ask(w *wire) {
	for _, s := range l.missing() {
		w.do(func(time.Time, *station.Output) { _ = w.request(s) })
	}
}

// introduce asks for a new station on the connections that are there already.
func (l *line) introduce(s *remote) {
	l.mu.Lock()
	guests := l.wires()
	l.mu.Unlock()
	for _, w := range guests {
		w.do(func(time.Time, *station.Output) { _ = w.request(s) })
	}
}

// request asks for the link status of a station.
func (w *wire) request(s *remote) error {
	header := link.Header{Control: link.RequestLinkStatus.With(link.DIR), Destination: s.port.Remote(), Source: s.port.Local()}
	frame, err := link.AppendFrame(nil, header, nil)
	if err != nil {
		return err
	}
	return w.write(frame)
}

// missing returns the stations without a connection.
func (l *line) missing() []*remote {
	l.mu.Lock()
	defer l.mu.Unlock()
	var missing []*remote
	for _, s := range l.stations {
		if s.wire == nil {
			missing = append(missing, s)
		}
	}
	return missing
}

// find gives the station that a frame comes from to the connection that it came by. A new
// connection takes it from an old one, which is closed; the station then waits for that.
func (l *line) find(w *wire, f link.Frame) *station.Port {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stations {
		if !s.port.Accepts(f.Header) {
			continue
		}
		switch {
		case s.wire == nil:
			if w.add(s.port) != nil {
				return nil
			}
			s.wire = w
			return s.port
		case s.wire != w:
			s.next = w
			s.wire.close()
		}
		return nil
	}
	return nil
}

// farewell frees the stations of a connection that has ended.
func (l *line) farewell(w *wire) {
	type move struct {
		s  *remote
		to *wire
	}
	var moves []move
	l.mu.Lock()
	delete(l.guests, w)
	for _, s := range l.stations {
		if s.wire != w {
			continue
		}
		if _, open := l.guests[s.next]; !open {
			s.next = nil
		}
		if s.wire, s.next = s.next, nil; s.wire != nil {
			moves = append(moves, move{s, s.wire})
		}
		s.disconnected()
	}
	l.mu.Unlock()
	for _, m := range moves {
		m.to.do(func(now time.Time, out *station.Output) {
			if l.has(m.s, m.to) { // it may have left meanwhile
				attach(m.to, m.s, now, out)
			}
		})
	}
}
