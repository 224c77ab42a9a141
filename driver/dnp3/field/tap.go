package field

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"voltbus/protocol/dnp3/explain"
)

// tap explains what goes through a stream.
type tap struct {
	io.ReadWriteCloser

	mu      sync.Mutex
	in, out explain.Decoder
	show    func(string)
}

// tapped returns the stream, with a tap if frames are shown.
func tapped(stream io.ReadWriteCloser, show func(string)) io.ReadWriteCloser {
	if show == nil {
		return stream
	}
	return &tap{ReadWriteCloser: stream, show: show}
}

func (t *tap) tell(d *explain.Decoder, arrow string, octets []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now().UTC().Format("15:04:05.000")
	for _, n := range d.Add(octets) {
		for line := range n.Lines() {
			t.show(at + " " + arrow + " " + line)
		}
	}
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	t.tell(&t.in, "<", p[:n])
	return n, err
}

// Write implements io.Writer.
func (t *tap) Write(p []byte) (int, error) {
	t.tell(&t.out, ">", p)
	return t.ReadWriteCloser.Write(p)
}

// SetReadDeadline passes a deadline on.
func (t *tap) SetReadDeadline(at time.Time) error {
	if s, ok := t.ReadWriteCloser.(interface{ SetReadDeadline(t time.Time) error }); ok {
		return s.SetReadDeadline(at)
	}
	return os.ErrNoDeadline
}

// SetWriteDeadline passes a deadline on.
func (t *tap) SetWriteDeadline(at time.Time) error {
	if s, ok := t.ReadWriteCloser.(interface{ SetWriteDeadline(t time.Time) error }); ok {
		return s.SetWriteDeadline(at)
	}
	return os.ErrNoDeadline
}

// tappedListener taps every connection.
type tappedListener struct {
	net.Listener

	show func(string)
}

// tappedConn is a connection with a tap.
type tappedConn struct {
	net.Conn

	tap *tap
}

// Accept implements net.Listener.
func (l tappedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil || l.show == nil {
		return conn, err
	}
	return tappedConn{conn, &tap{ReadWriteCloser: conn, show: l.show}}, nil
}

// Read implements net.Conn.
func (c tappedConn) Read(p []byte) (int, error) { return c.tap.Read(p) }

// Write implements net.Conn.
func (c tappedConn) Write(p []byte) (int, error) { return c.tap.Write(p) }
