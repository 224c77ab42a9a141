package channel

import (
	"io"
	"net"
	"sync"

	"voltbus/protocol/dnp3/station"
)

// Line is one open stream with ports that come and go. It is for programs that dial themselves: a [Client] opens its
// stream again and again, a Line ends with it. Its methods may be called concurrently, Pause and Resume by one goroutine.
type Line struct {
	conn *conn
	done chan struct{}

	mu    sync.Mutex
	begun bool
	err   error // valid after done
}

// NewLine returns a line over a stream, which it closes. Nothing is read before Run.
func NewLine(h *Hub, stream io.ReadWriteCloser) *Line {
	return &Line{conn: newConn(h, stream), done: make(chan struct{})}
}

// Add puts a port on the line and opens it. It fails if the line has ended, or it has a port with the same addresses.
func (l *Line) Add(p *station.Port) error { return l.conn.attach(p) }

// Remove lets a port send pending data, closes it and removes it.
func (l *Line) Remove(p *station.Port) { l.conn.detach(p) }

// Pause stops the line from handling incoming data until Resume: the data stays in the stream. When Pause returns,
// nothing is being handled. Requests can be sent meanwhile, and fail if they time out.
func (l *Line) Pause() { l.conn.hold() }

// Resume ends a pause.
func (l *Line) Resume() { l.conn.unhold() }

// Run reads until the stream ends or Close is called, and returns why it ended: [ErrDead] if no peer answers any more.
func (l *Line) Run() error {
	if !l.begin() {
		return net.ErrClosed
	}
	err := l.conn.read()
	l.end(err)
	return err
}

// begin reports whether the line has not been run or closed before.
func (l *Line) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.begun
	l.begun = true
	return first
}

func (l *Line) end(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	l.conn.close()
	close(l.done)
}

// Close ends the line. Run returns soon afterwards.
func (l *Line) Close() {
	l.conn.stream.shut()
	if l.begin() {
		l.end(net.ErrClosed)
	}
}

// Done is closed when the line has ended and its ports are free.
func (l *Line) Done() <-chan struct{} { return l.done }

// Err returns why the line ended, nil before that.
func (l *Line) Err() error {
	select {
	case <-l.done:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.err
	default:
		return nil
	}
}
