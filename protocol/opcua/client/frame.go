package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/gopcua/opcua/ua"
)

// Sizes of messages (Part 6, clause 7.1.2).
const (
	headerSize  = 8
	bufferSize  = 1 << 16
	maxMessage  = 16 << 20
	maxChunks   = maxMessage / (8 << 10)
	maxPartial  = 64 // messages of which some chunks have come
	leastBuffer = 8192
)

// limits are what the server receives.
type limits struct{ chunk, message, chunks int }

// hello makes the connection known to the server and returns its limits (Part 6, clauses 7.1.2.3 and 7.1.2.4).
func hello(conn net.Conn, endpoint string) (limits, error) {
	buf := ua.NewBuffer(nil)
	for _, n := range []uint32{0, bufferSize, bufferSize, maxMessage, maxChunks} {
		buf.WriteUint32(n)
	}
	buf.WriteString(endpoint)
	if err := writeFrame(conn, "HELF", buf.Bytes()); err != nil {
		return limits{}, err
	}
	kind, body, err := readFrame(conn)
	if err != nil {
		return limits{}, err
	}
	switch kind {
	case "ACKF":
	case "ERRF":
		return limits{}, refusal(body)
	default:
		return limits{}, fmt.Errorf("answers %q instead of an acknowledgement: it is not an OPC UA server", kind)
	}
	in := ua.NewBuffer(body)
	_ = in.ReadUint32() // the version
	l := limits{chunk: int(in.ReadUint32())}
	_ = in.ReadUint32() // what it sends: the frames tell
	l.message, l.chunks = int(in.ReadUint32()), int(in.ReadUint32())
	if in.Error() != nil || l.chunk < leastBuffer {
		return limits{}, errors.New("its acknowledgement is damaged")
	}
	l.chunk = min(l.chunk, bufferSize)
	return l, nil
}

// refusal is the error of an ERR message (Part 6, clause 7.1.2.5).
func refusal(body []byte) error {
	in := ua.NewBuffer(body)
	code, reason := ua.StatusCode(in.ReadUint32()), in.ReadString()
	if in.Error() != nil {
		return errors.New("ended the connection with a damaged message")
	}
	if reason == "" {
		return code
	}
	return fmt.Errorf("%w, %q", code, reason)
}

func writeFrame(w io.Writer, kind string, body []byte) error {
	frame := append([]byte(kind), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(frame[4:], uint32(headerSize+len(body))) //nolint:gosec // bounded by bufferSize
	_, err := w.Write(append(frame, body...))
	return err
}

// readFrame reads one frame: its kind, such as MSGF, and what follows the header.
func readFrame(r io.Reader) (kind string, body []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return "", nil, err
	}
	size := binary.LittleEndian.Uint32(header[4:])
	if size < headerSize || size > bufferSize {
		return "", nil, fmt.Errorf("sent a frame of %d bytes; %d to %d are possible", size, headerSize, bufferSize)
	}
	body = make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", nil, err
	}
	return string(header[:4]), body, nil
}
