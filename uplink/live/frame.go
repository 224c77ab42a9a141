package live

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"voltbus/fault"
)

// Message is a live message or a free one. Between two nodes it has its name at the upper one.
type Message struct {
	Subject string
	Header  map[string][]string // of a free message, chosen by its sender
	Data    []byte
}

// bytes is the approximate size of a message in a queue and in a frame.
func (m *Message) octets() int { return len(m.Subject) + len(m.Data) + 64 + 64*len(m.Header) }

// dataFrame is the first byte of a frame with messages. Everything else is a control frame, which is JSON and begins with {.
const dataFrame = 1

// The bounds of a frame with messages, before it is packed.
const (
	maxMessage = 4 << 20
	maxFrame   = maxMessage + 64<<10
	fullFrame  = 256 << 10 // no more messages are added to one of this size
	maxHeader  = 32 << 10
)

// word is a control frame between the ends of a link, with one of the fields set.
type word struct {
	Hello   bool   `json:"hello,omitempty"`   // the child's first control frame on a connection
	Greeted bool   `json:"greeted,omitempty"` // the parent's answer
	Want    *want  `json:"want,omitempty"`    // what its sender wants from now on
	Wanted  uint64 `json:"wanted,omitempty"`  // answers a want: its version
	// Withheld is the part of the want that is currently not sent up; nil: not specified.
	Withheld *[]Withheld `json:"withheld,omitempty"`
	Taken    uint64      `json:"taken,omitempty"` // answers a frame with messages: its number
}

// want replaces the previous want of the connection.
type want struct {
	Version  uint64   `json:"version"`  // counts up
	Subjects []string `json:"subjects"` // with wildcards
}

func (w *word) encode() []byte {
	body, err := json.Marshal(w)
	if err != nil { // numbers and strings cannot fail
		return nil
	}
	return body
}

// packed is a frame with messages.
type packed struct {
	number   uint64 // from 1 on a connection
	lost     uint64 // messages that the sender has had to drop on this connection
	messages []Message
}

var (
	errFrame = errors.New("a frame of live messages is damaged")
	errLarge = fmt.Errorf("a frame of live messages is larger than %d bytes", maxFrame)
)

// packer encodes frames. It is not safe for concurrent use.
type packer struct {
	zstd *zstd.Encoder
	raw  []byte
}

// open creates the encoder, whose memory a link without messages does not need.
func (p *packer) open() error {
	if p.zstd != nil {
		return nil
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10))
	if err != nil {
		return fault.E("live.pack", fault.Internal, "zstd", err)
	}
	p.zstd = e
	return nil
}

// pack appends a frame to dst.
func (p *packer) pack(dst []byte, f *packed) ([]byte, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	dst = append(dst, dataFrame)
	dst = binary.AppendUvarint(dst, f.number)
	dst = binary.AppendUvarint(dst, f.lost)
	p.raw = p.raw[:0]
	for i := range f.messages {
		m := &f.messages[i]
		var header []byte
		if len(m.Header) > 0 {
			header, _ = json.Marshal(m.Header) // strings cannot fail
		}
		for _, part := range [][]byte{[]byte(m.Subject), header, m.Data} {
			p.raw = append(binary.AppendUvarint(p.raw, uint64(len(part))), part...)
		}
	}
	return p.zstd.EncodeAll(p.raw, dst), nil
}

// unpacker decodes frames. It is not safe for concurrent use. Close it.
type unpacker struct {
	zstd *zstd.Decoder
	raw  []byte
}

func (u *unpacker) open() error {
	if u.zstd != nil {
		return nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecoderMaxWindow(1<<20))
	if err != nil {
		return fault.E("live.unpack", fault.Internal, "zstd", err)
	}
	u.zstd = d
	return nil
}

// unpack decodes a frame, whose messages do not share memory with data. It fails with fault.Corrupt.
func (u *unpacker) unpack(data []byte) (f packed, err error) {
	const op = "live.unpack"
	if len(data) == 0 || data[0] != dataFrame {
		return f, fault.E(op, fault.Corrupt, "", errFrame)
	}
	data = data[1:]
	for _, number := range []*uint64{&f.number, &f.lost} {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return f, fault.E(op, fault.Corrupt, "", errFrame)
		}
		*number, data = v, data[n:]
	}
	if err := u.open(); err != nil {
		return f, err
	}
	if u.raw, err = u.zstd.DecodeAll(data, u.raw[:0]); err != nil || len(u.raw) > maxFrame {
		return f, fault.E(op, fault.Corrupt, "", errLarge)
	}
	for rest := u.raw; len(rest) > 0; {
		var parts [3][]byte
		for i := range parts {
			size, n := binary.Uvarint(rest)
			if n <= 0 || size > uint64(len(rest)-n) {
				return f, fault.E(op, fault.Corrupt, "", errFrame)
			}
			parts[i], rest = rest[n:n+int(size)], rest[n+int(size):]
		}
		m := Message{Subject: string(parts[0]), Data: slices.Clone(parts[2])}
		if len(parts[1]) > maxHeader || (len(parts[1]) > 0 && json.Unmarshal(parts[1], &m.Header) != nil) {
			return f, fault.E(op, fault.Corrupt, m.Subject, errFrame)
		}
		f.messages = append(f.messages, m)
	}
	return f, nil
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
