package dnp3

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

const (
	// writeLimit is how long a write may be stuck before a stream is given up.
	writeLimit = 10 * time.Second
	// alienLimit is how long a device that dialled in may leave open who it is.
	alienLimit = 30 * time.Second
)

var (
	errEnded = errors.New("the connection was closed by the other side")
	errDead  = errors.New("no device on the line answers, not even a request for its link status")
	errShut  = errors.New("the line was closed")
	errAlien = errors.New("no configured device spoke on the connection")
)

// wire is one open stream. Its loop alone touches the ports on it; a second goroutine only reads.
// Ports can come and go while it runs.
type wire struct {
	stream io.ReadWriteCloser
	pool   *station.Pool
	find   func(*wire, link.Frame) *station.Port // who a frame of an unknown station is for; may be nil

	arrived chan []byte
	taken   chan struct{}
	calls   chan func(now time.Time, out *station.Output)
	woken   chan struct{}
	closing chan struct{}
	close   func()
	done    chan struct{} // closed when the loop has ended
	reading sync.WaitGroup

	held  bool // nothing is taken that arrives; of the loop once that runs
	mux   station.Mux
	rest  []byte // a frame that has not arrived whole
	since time.Time
	err   error // why it ended; valid after done
}

func newWire(stream io.ReadWriteCloser, pool *station.Pool) *wire {
	w := &wire{
		stream: stream, pool: pool, arrived: make(chan []byte), taken: make(chan struct{}),
		calls: make(chan func(time.Time, *station.Output)), woken: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}), since: time.Now(),
	}
	w.close = sync.OnceFunc(func() { close(w.closing) })
	w.mux.Find = func(f link.Frame) *station.Port {
		if w.find == nil {
			return nil
		}
		return w.find(w, f)
	}
	return w
}

// run drives the ports until the stream ends or close is called. first is called before anything
// is read: what a device says at once must find its port.
func (w *wire) run(first func(now time.Time, out *station.Output)) {
	defer close(w.done)
	w.reading.Go(w.read)
	w.err = w.loop(first)
	w.close() // the reader may wait for the loop
	_ = w.stream.Close()
	w.reading.Wait()
	for _, p := range w.mux.Ports() {
		p.Machine().SetWake(nil)
	}
	w.mux.Close(time.Now(), w.pool)
}

// read passes on what arrives, and lends it until it is taken.
func (w *wire) read() {
	defer close(w.arrived)
	buffer := make([]byte, 4096)
	for {
		n, err := w.stream.Read(buffer)
		if n > 0 {
			select {
			case w.arrived <- buffer[:n]:
			case <-w.closing:
				return
			}
			select {
			case <-w.taken:
			case <-w.closing:
				return
			}
		}
		if err != nil && !notHeard(err) {
			return
		}
	}
}

// notHeard reports whether an error only says that nobody hears our datagrams at the moment, which
// a network may tell of UDP, and which is no end of anything.
func notHeard(err error) bool {
	var from *net.OpError
	return errors.As(err, &from) && from.Net == "udp" && errors.Is(err, syscall.ECONNREFUSED)
}

func (w *wire) loop(first func(now time.Time, out *station.Output)) error {
	timer := time.NewTimer(w.untilDue())
	defer timer.Stop()
	err := w.let(func(out *station.Output) error {
		first(time.Now(), out)
		return nil
	})
	for err == nil {
		timer.Reset(w.untilDue())
		err = w.let(func(out *station.Output) error { return w.step(timer.C, out) })
	}
	return err
}

// let does something with the ports, and sends what it leaves.
func (w *wire) let(do func(out *station.Output) error) error {
	out := w.pool.Output()
	defer w.pool.Release(out)
	if err := do(out); err != nil {
		return err
	}
	switch err := w.write(out.Wire()); {
	case err != nil:
		return err
	case w.dead():
		return errDead
	case w.alien() && time.Since(w.since) >= alienLimit:
		return errAlien
	}
	return nil
}

// step waits for the next thing to do, and does it.
func (w *wire) step(due <-chan time.Time, out *station.Output) error {
	arrived := w.arrived
	if w.held {
		arrived = nil
	}
	select {
	case <-w.closing:
		return errShut
	case octets, more := <-arrived:
		if !more {
			return errEnded
		}
		w.rest = append(w.rest, octets...)
		select {
		case w.taken <- struct{}{}:
		case <-w.closing:
			return errShut
		}
		n := w.mux.Receive(time.Now(), w.rest, out)
		w.rest = append(w.rest[:0], w.rest[n:]...)
	case call := <-w.calls:
		call(time.Now(), out)
	case <-w.woken:
		w.mux.Tick(time.Now(), out)
	case <-due:
		w.mux.Tick(time.Now(), out)
	}
	return nil
}

func (w *wire) untilDue() time.Duration {
	due := w.mux.Deadline()
	if w.alien() {
		due = w.since.Add(alienLimit)
	}
	if due.IsZero() {
		return time.Hour
	}
	return max(0, time.Until(due))
}

// alien reports whether it is not known who dialled in.
func (w *wire) alien() bool { return w.find != nil && len(w.mux.Ports()) == 0 }

// write sends octets. Only the loop may call it.
func (w *wire) write(octets []byte) error {
	if len(octets) == 0 {
		return nil
	}
	if conn, ok := w.stream.(net.Conn); ok {
		if err := conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
			return err
		}
	}
	if _, err := w.stream.Write(octets); !notHeard(err) {
		return err
	}
	return nil
}

// dead reports whether no port hears anything any more.
func (w *wire) dead() bool {
	for _, p := range w.mux.Ports() {
		if !p.Dead() {
			return false
		}
	}
	return len(w.mux.Ports()) > 0
}

// do has the loop call f, and returns when it has, or the wire has ended.
func (w *wire) do(f func(now time.Time, out *station.Output)) {
	called := make(chan struct{})
	select {
	case w.calls <- func(now time.Time, out *station.Output) { f(now, out); close(called) }:
		<-called
	case <-w.done:
	}
}

// wake makes the loop look at the ports soon.
func (w *wire) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// add puts a port on the wire. Only the loop may call it; it does not open the port.
func (w *wire) add(p *station.Port) error {
	if err := w.mux.Add(p); err != nil {
		return err
	}
	p.Machine().SetWake(w.wake)
	return nil
}

// remove takes a port off and closes it. Only the loop may call it.
func (w *wire) remove(p *station.Port, now time.Time) {
	p.Machine().SetWake(nil)
	p.Close(now, w.pool)
	w.mux.Remove(p)
}

// alive reports whether the wire has not ended.
func (w *wire) alive() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}
