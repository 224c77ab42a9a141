// Package mongodb speaks the wire protocol of MongoDB 3.6 and later, as far as writing documents needs it: commands in messages of the
// kind OP_MSG, and authentication by SCRAM-SHA-256. It is a library of its own: the driver of MongoDB would add 4 % to the program's size.
package mongodb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Bounds of a message.
const (
	headerSize = 16
	maxAnswer  = 48 << 20 // maxMessageSizeBytes of the server
)

const opMessage = 2013

// Conn is a connection. It is used by one goroutine.
type Conn struct {
	net.Conn

	last    uint32
	scratch []byte
}

// New returns a connection over one to a server.
func New(c net.Conn) *Conn { return &Conn{Conn: c} }

// Command is a command to a server.
type Command struct {
	Body []byte // a document: the command is its first element, and $db the database
	// Name and Documents are a sequence of documents beside the body, such as documents of insert; may be empty.
	Name      string
	Documents []byte
}

// Error is an answer that says that a command was not carried out.
type Error struct {
	Code int64
	Name string
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (error %d %s)", e.Text, e.Code, e.Name) }

// Do sends a command, and returns the answer. It returns an *Error if the server did not carry out the command; after any other error the
// connection must be closed.
func (c *Conn) Do(ctx context.Context, q *Command) (Document, error) {
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	d, err := c.roundTrip(q)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	if ok, _ := number(d["ok"]); ok == 1 {
		return d, nil
	}
	e := &Error{Text: "the server does not say why"}
	e.Code, _ = d["code"].(int64)
	e.Name, _ = d["codeName"].(string)
	if text, _ := d["errmsg"].(string); text != "" {
		e.Text = text
	}
	return nil, e
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func (c *Conn) roundTrip(q *Command) (Document, error) {
	c.last++
	b := append(c.scratch[:0], make([]byte, headerSize+lengthSize)...) // with no flags
	b = append(append(b, 0), q.Body...)
	if len(q.Documents) > 0 {
		b = append(b, 1)
		at := len(b)
		b = append(append(append(b, 0, 0, 0, 0), q.Name...), 0)
		b = append(b, q.Documents...)
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], c.last)
	binary.LittleEndian.PutUint32(b[12:], opMessage)
	c.scratch = b
	if _, err := c.Write(b); err != nil {
		return nil, err
	}
	return c.read()
}

var errProtocol = errors.New("it does not speak the protocol of MongoDB at this address")

func (c *Conn) read() (Document, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	const least = headerSize + lengthSize + 1 // flags, and the kind of the section
	if size < least || size > maxAnswer || binary.LittleEndian.Uint32(head[12:]) != opMessage {
		return nil, errProtocol
	}
	if binary.LittleEndian.Uint32(head[8:]) != c.last {
		return nil, errors.New("the answer is to another command")
	}
	body := make([]byte, size-headerSize)
	if _, err := io.ReadFull(c, body); err != nil {
		return nil, err
	}
	flags := binary.LittleEndian.Uint32(body)
	if body[lengthSize] != 0 || flags&2 != 0 {
		return nil, errProtocol
	}
	body = body[lengthSize+1:]
	if flags&1 != 0 { // with a checksum at the end, which TCP makes unneeded
		body = body[:max(0, len(body)-lengthSize)]
	}
	return Decode(body)
}

// Hello asks the server what it is: whether it takes writes is in "isWritablePrimary".
func (c *Conn) Hello(ctx context.Context, name string) (Document, error) {
	return c.say(ctx, "admin", "hello", func(b []byte) []byte {
		b, client := Within(b, "client")
		for _, part := range []string{"driver", "os"} {
			var at int
			b, at = Within(b, part)
			b = String(b, map[string]string{"driver": "name", "os": "type"}[part], name)
			if part == "driver" {
				b = String(b, "version", "1")
			}
			b = End(b, at)
		}
		return End(b, client)
	})
}
