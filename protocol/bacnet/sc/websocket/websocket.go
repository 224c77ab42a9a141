// Package websocket carries messages of BACnet/SC in binary messages of WebSocket connections (ASHRAE 135 AB.7, RFC 6455). It has both
// sides, and knows no other content than the subprotocol that both name.
package websocket

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// The kinds of frames (RFC 6455 §5.2).
const (
	continuation = 0x0
	textFrame    = 0x1
	binaryFrame  = 0x2
	closing      = 0x8
	ping         = 0x9
	pong         = 0xA

	final       = 0x80
	reserved    = 0x70
	masked      = 0x80
	mostControl = 125 // octets in a ping, pong or close
)

// Errors of connections.
var (
	ErrClosed  = errors.New("the other end has closed the connection")
	ErrTooLong = errors.New("the message is longer than is taken here")
	ErrFrame   = errors.New("the frame breaks RFC 6455")
	ErrText    = errors.New("the message is text; BACnet/SC has binary messages")
)

// Conn is a connection of messages. One goroutine may read while others write.
type Conn struct {
	conn   net.Conn
	in     *bufio.Reader
	client bool // frames that are sent are masked, and those that arrive are not
	most   int

	mu sync.Mutex // one frame at a time is written
}

func newConn(conn net.Conn, in *bufio.Reader, client bool, most int) *Conn {
	return &Conn{conn: conn, in: in, client: client, most: most}
}

// NetConn returns the connection below, such as to know who is at its other end.
func (c *Conn) NetConn() net.Conn { return c.conn }

// writeTime is how long a message may take to be sent before the other end is given up.
const writeTime = 10 * time.Second

// Write sends a message.
func (c *Conn) Write(message []byte) error { return c.put(binaryFrame, message) }

// Close says goodbye, as far as that is possible without waiting long, and closes the connection.
func (c *Conn) Close() error {
	const normal = 1000
	_ = c.put(closing, binary.BigEndian.AppendUint16(nil, normal))
	return c.conn.Close()
}

// put sends one frame.
func (c *Conn) put(kind byte, payload []byte) error {
	b := []byte{final | kind, 0}
	switch n := len(payload); {
	case n <= mostControl:
		b[1] = byte(n)
	case n <= 0xFFFF:
		b[1] = 126
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	default:
		return ErrTooLong
	}
	at := len(b)
	if c.client {
		b[1] |= masked
		key := make([]byte, 4)
		_, _ = rand.Read(key) // never fails
		b = append(b, key...)
		at += len(key)
		b = append(b, payload...)
		mask(b[at:], [4]byte(key))
	} else {
		b = append(b, payload...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err := c.conn.Write(b)
	if err != nil {
		_ = c.conn.Close() // part of a frame may have left: nothing can follow it
	}
	return err
}

func mask(b []byte, key [4]byte) {
	for i := range b {
		b[i] ^= key[i%4]
	}
}

// Read returns the next message, which the caller owns. Pings are answered. ErrClosed: the other end said goodbye.
func (c *Conn) Read() ([]byte, error) {
	var message []byte
	for begun := false; ; {
		f, err := c.next(len(message))
		if err != nil {
			return nil, err
		}
		switch kind := f.kind; {
		case kind == closing:
			_ = c.put(closing, f.payload[:min(len(f.payload), 2)])
			return nil, ErrClosed
		case kind == ping:
			if err := c.put(pong, f.payload); err != nil {
				return nil, err
			}
		case kind == pong:
		case kind == textFrame:
			return nil, ErrText
		case (kind == continuation) != begun || kind > binaryFrame:
			return nil, fmt.Errorf("%w: kind %d", ErrFrame, kind)
		default:
			begun = true
			if message = append(message, f.payload...); f.last {
				return message, nil
			}
		}
	}
}

// frame is one that arrived.
type frame struct {
	kind    byte
	last    bool // of its message
	payload []byte
}

// next reads one frame, of a message of which so many octets are there.
func (c *Conn) next(there int) (f frame, err error) {
	var head [2]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return frame{}, err
	}
	f.kind, f.last = head[0]&0x0F, head[0]&final != 0
	if head[0]&reserved != 0 || (head[1]&masked != 0) == c.client {
		return frame{}, fmt.Errorf("%w: header % x", ErrFrame, head)
	}
	n, err := c.length(head[1] &^ masked)
	switch {
	case err != nil:
		return frame{}, err
	case f.kind >= closing && (n > mostControl || !f.last):
		return frame{}, fmt.Errorf("%w: a control frame of %d octets", ErrFrame, n)
	case n > uint64(c.most-there):
		return frame{}, ErrTooLong
	}
	var key [4]byte
	if !c.client {
		if _, err := io.ReadFull(c.in, key[:]); err != nil {
			return frame{}, err
		}
	}
	f.payload = make([]byte, n)
	if _, err := io.ReadFull(c.in, f.payload); err != nil {
		return frame{}, err
	}
	if !c.client {
		mask(f.payload, key)
	}
	return f, nil
}

func (c *Conn) length(short byte) (uint64, error) {
	var size int
	switch short {
	case 126:
		size = 2
	case 127:
		size = 8
	default:
		return uint64(short), nil
	}
	var b [8]byte
	if _, err := io.ReadFull(c.in, b[8-size:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(b[:]), nil
}
