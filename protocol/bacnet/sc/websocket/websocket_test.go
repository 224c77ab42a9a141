package websocket

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reading returns the end of a server, or a client, to which octets were sent one at a time.
func reading(t testing.TB, text string, client bool) *Conn {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return newConn(near, bufio.NewReader(iotest.OneByteReader(bytes.NewReader(p))), client, 100)
}

func TestFramesAreReadAsRFC6455HasThem(t *testing.T) {
	for _, tt := range []struct {
		name, octets string
		client       bool
		want         string
		err          error
	}{
		{"§5.2 a message to a client", "82 05 48656c6c6f", true, "Hello", nil},
		{"§5.7 a masked message to a server", "82 85 37fa213d 7f9f4d5158", false, "Hello", nil},
		{"§5.4 a message in two frames with a pong between", "02 03 48656c 8a 00 80 02 6c6f", true, "Hello", nil},
		{"§5.2 a length of 16 bits", "82 7e 0003 616263", true, "abc", nil},
		{"§5.1 a masked message to a client", "82 85 37fa213d 7f9f4d5158", true, "", ErrFrame},
		{"§5.1 a message to a server that is not masked", "82 05 48656c6c6f", false, "", ErrFrame},
		{"§5.2 a reserved bit", "c2 05 48656c6c6f", true, "", ErrFrame},
		{"§5.4 a continuation of nothing", "80 01 61", true, "", ErrFrame},
		{"§5.4 a message inside of another", "02 01 61 82 01 62", true, "", ErrFrame},
		{"§5.5 a ping in pieces", "09 01 61", true, "", ErrFrame},
		{"§5.5 a ping that is too long", "89 7e 0080", true, "", ErrFrame},
		{"§5.6 text", "81 01 61", true, "", ErrText},
		{"a message that is too long", "82 7e 0065", true, "", ErrTooLong},
		{"a length of 63 bits", "82 7f 7fffffffffffffff", true, "", ErrTooLong},
		{"pieces that become too long", "02 60 " + strings.Repeat("61", 96) + " 80 05 6161616161", true, "", ErrTooLong},
		{"a cut frame", "82 05 4865", true, "", io.ErrUnexpectedEOF},
	} {
		got, err := reading(t, tt.octets, tt.client).Read()
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v, want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

func TestFramesCutAtEveryOctetAreRefused(t *testing.T) {
	const whole = "02 03 48656c 8a 00 80 7e 0002 6c6f"
	if got, err := reading(t, whole, true).Read(); err != nil || string(got) != "Hello" {
		t.Fatalf("the whole is %q, %v", got, err)
	}
	wire := strings.ReplaceAll(whole, " ", "")
	for n := 0; n < len(wire); n += 2 {
		if got, err := reading(t, wire[:n], true).Read(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d octets are %q, %v", n/2, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0x82, 5, 'H', 'e', 'l', 'l', 'o'}, true)
	f.Add([]byte{0x82, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}, false)
	f.Fuzz(func(t *testing.T, p []byte, client bool) {
		near, far := net.Pipe()
		_, _ = far.Close(), near.Close() // what is answered is lost
		c := newConn(near, bufio.NewReader(bytes.NewReader(p)), client, 100)
		for {
			message, err := c.Read()
			if err != nil {
				return
			}
			if len(message) > 100 {
				t.Fatalf("%d octets were taken", len(message))
			}
		}
	})
}
