// Package websocket is the server side of WebSocket connections that carry a byte stream in binary messages (RFC 6455), such as MQTT
// (MQTT 5.0 §6).
package websocket

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // RFC 6455 §4.2.2 says so; nothing depends on its strength
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// guid is what a server adds to the key of a client (§4.2.2).
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// The kinds of frames (§5.2).
const (
	continuation = 0x0
	binaryFrame  = 0x2
	closing      = 0x8
	ping         = 0x9
	pong         = 0xA

	final  = 0x80
	masked = 0x80

	mostControl = 125 // octets in a ping, pong or close
)

// Errors of requests.
var (
	errMethod   = errors.New("is no request for a WebSocket: send GET with Upgrade: websocket and Sec-WebSocket-Version: 13")
	errKey      = errors.New("has no Sec-WebSocket-Key of 16 bytes")
	errProtocol = errors.New("does not ask for the subprotocol that is spoken here")
	errOrigin   = errors.New("comes from a page of another site")
	errHijack   = errors.New("cannot become a WebSocket over this version of HTTP")
)

// Upgrade answers a request for a WebSocket that carries a subprotocol, and returns the stream of its bytes. Pages of
// other sites are refused. With an error the request has been answered.
func Upgrade(w http.ResponseWriter, r *http.Request, protocol string) (net.Conn, error) {
	key, err := check(r, protocol)
	status := http.StatusBadRequest
	if errors.Is(err, errOrigin) {
		status = http.StatusForbidden
	}
	var conn net.Conn
	var buffered *bufio.ReadWriter
	if err == nil {
		h, is := w.(http.Hijacker)
		if !is {
			err = errHijack
		} else {
			conn, buffered, err = h.Hijack()
		}
	}
	if err != nil {
		http.Error(w, "the request "+err.Error(), status)
		return nil, err
	}
	sum := sha1.Sum([]byte(key + guid)) //nolint:gosec // see above
	answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n\r\n"
	if _, err := io.WriteString(conn, answer); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &stream{Conn: conn, in: buffered.Reader}, nil
}

// check checks a request and returns its key.
func check(r *http.Request, protocol string) (key string, err error) {
	key = r.Header.Get("Sec-WebSocket-Key")
	raw, wrong := base64.StdEncoding.DecodeString(key)
	switch {
	case r.Method != http.MethodGet || !holds(r.Header, "Connection", "upgrade") || !holds(r.Header, "Upgrade", "websocket") || r.Header.Get("Sec-WebSocket-Version") != "13":
		return "", errMethod
	case wrong != nil || len(raw) != 16:
		return "", errKey
	case !holds(r.Header, "Sec-WebSocket-Protocol", protocol):
		return "", errProtocol
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return "", errOrigin
		}
	}
	return key, nil
}

// holds reports whether a list in a header holds a word.
func holds(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), word) {
				return true
			}
		}
	}
	return false
}

// stream is the bytes of the binary messages of a connection.
type stream struct {
	net.Conn
	in *bufio.Reader

	left uint64 // of the payload of the frame that is read
	mask [4]byte
	at   int // in mask

	writing sync.Mutex
}

// Read implements net.Conn.
func (s *stream) Read(b []byte) (int, error) {
	for s.left == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n, err := s.in.Read(b[:min(uint64(len(b)), s.left)])
	s.unmask(b[:n])
	s.left -= uint64(n)
	return n, err
}

func (s *stream) unmask(b []byte) {
	for i := range b {
		b[i] ^= s.mask[s.at&3]
		s.at++
	}
}

// next reads the header of the next frame of data, and answers what comes before it.
func (s *stream) next() error {
	kind, err := s.header()
	if err != nil {
		return err
	}
	switch kind {
	case continuation, binaryFrame:
		return nil
	case ping, pong, closing:
		return s.control(kind)
	}
	return fmt.Errorf("a frame has the kind %d; binary ones are wanted", kind)
}

func (s *stream) header() (kind byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, err
	}
	kind = head[0] & 0x0F
	if head[0]&0x70 != 0 || head[1]&masked == 0 {
		return 0, errors.New("a frame has reserved bits or is not masked") // §5.1, §5.2
	}
	s.left = uint64(head[1] &^ masked)
	var long [8]byte
	switch s.left {
	case 126:
		_, err = io.ReadFull(s.in, long[6:])
		s.left = binary.BigEndian.Uint64(long[:])
	case 127:
		_, err = io.ReadFull(s.in, long[:])
		s.left = binary.BigEndian.Uint64(long[:])
	}
	if err == nil && kind >= closing && (s.left > mostControl || head[0]&final == 0) {
		err = errors.New("a control frame is longer than 125 octets or in pieces") // §5.5
	}
	if err == nil {
		s.at = 0
		_, err = io.ReadFull(s.in, s.mask[:])
	}
	return kind, err
}

// control answers a control frame.
func (s *stream) control(kind byte) error {
	payload := make([]byte, s.left)
	if _, err := io.ReadFull(s.in, payload); err != nil {
		return err
	}
	s.unmask(payload)
	s.left = 0
	switch kind {
	case ping:
		return s.write(pong, payload)
	case closing:
		_ = s.write(closing, payload)
		return io.EOF
	}
	return nil
}

// Write implements net.Conn: one binary message.
func (s *stream) Write(b []byte) (int, error) {
	if err := s.write(binaryFrame, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *stream) write(kind byte, b []byte) error {
	head := make([]byte, 0, 10)
	head = append(head, final|kind)
	switch n := len(b); {
	case n <= mostControl:
		head = append(head, byte(n))
	case n <= 0xFFFF:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	whole := net.Buffers{head, b}
	_, err := whole.WriteTo(s.Conn)
	return err
}
