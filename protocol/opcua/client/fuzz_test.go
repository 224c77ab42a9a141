package client

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// replay is a connection that a server has sent so many bytes on and ended.
type replay struct {
	net.Conn
	in io.Reader
}

func (r *replay) Read(b []byte) (int, error)       { return r.in.Read(b) }
func (*replay) Write(b []byte) (int, error)        { return len(b), nil }
func (*replay) SetWriteDeadline(_ time.Time) error { return nil }
func (*replay) Close() error                       { return nil }

// framed is a frame of a kind.
func framed(kind string, body ...byte) []byte {
	var b bytes.Buffer
	_ = writeFrame(&b, kind, body) // to memory, which cannot fail
	return b.Bytes()
}

func FuzzHello(f *testing.F) {
	f.Add(framed("ACKF", make([]byte, 20)...))
	f.Add(framed("ACKF", 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	f.Add(framed("ERRF", 0, 0, 0x82, 0x80, 3, 0, 0, 0, 'w', 'h', 'y'))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		l, err := hello(&replay{in: bytes.NewReader(sent)}, "opc.tcp://host:4840")
		if err == nil && (l.chunk < leastBuffer || l.chunk > bufferSize) {
			t.Errorf("chunks of %d bytes are taken as possible", l.chunk)
		}
		if err != nil && err.Error() == "" {
			t.Error("the error says nothing")
		}
	})
}

// secured are the keys of both ends of a channel.
func secured(t testing.TB, policy string) (client, server *uapolicy.EncryptionAlgorithm) {
	t.Helper()
	if policy == "" {
		policy = ua.SecurityPolicyURINone
	}
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	client, err := uapolicy.Symmetric(policy, a, b)
	if err != nil {
		t.Fatal(err)
	}
	server, err = uapolicy.Symmetric(policy, b, a)
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// script is what a hostile server that has the keys sends. Each line of it is a byte that says how, and what: without the lowest bit the bytes
// as they are, with it a chunk whose header and security are right.
func script(t testing.TB, lines []byte, server *uapolicy.EncryptionAlgorithm, encrypt bool) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.SplitSeq(lines, []byte("\n\n")) {
		if len(line) == 0 {
			continue
		}
		how, rest := line[0], line[1:]
		if how&1 == 0 {
			out.Write(rest)
			continue
		}
		header := ua.NewBuffer(nil)
		header.Write([]byte("MSG" + string("FCAF"[how>>1&3])))
		for _, n := range []uint32{0, 7, 1} { // size, channel and token
			header.WriteUint32(n)
		}
		plain := ua.NewBuffer(nil)
		plain.WriteUint32(1)
		plain.WriteUint32(uint32(how >> 3)) // the request
		plain.Write(rest)
		sealed, err := seal(server, header.Bytes(), plain.Bytes(), encrypt)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(sealed)
	}
	return out.Bytes()
}

// The securities that are tried.
var securities = []Security{
	{}, {Policy: ua.SecurityPolicyURIBasic256Sha256, Sign: true}, {Policy: ua.SecurityPolicyURIBasic256Sha256},
}

// FuzzReceive reads what a server sends. What it cannot decode has a reason, and none of the reasons is that the decoder gave up.
func FuzzReceive(f *testing.F) {
	read, publish := encodedResponse(f, &ua.ReadResponse{Results: []*ua.DataValue{{}}}), encodedResponse(f, &ua.PublishResponse{NotificationMessage: &ua.NotificationMessage{}})
	for i := range securities {
		f.Add(uint8(i), append([]byte{1 | 1<<3}, read...))
		f.Add(uint8(i), append([]byte{1 | 2<<3}, publish...))
		f.Add(uint8(i), append(append(append([]byte{3 | 1<<3}, read[:10]...), '\n', '\n', 1|1<<3), read[10:]...))
		f.Add(uint8(i), []byte{5 | 1<<3, 0, 0, 0x82, 0x80, 0xFF, 0xFF, 0xFF, 0xFF})
	}
	f.Add(uint8(0), append([]byte{0}, framed("ERRF", 0, 0, 0x82, 0x80, 0, 0, 0, 0)...))
	f.Add(uint8(0), append([]byte{0}, framed("OPNF", openBody(f)...)...))
	f.Fuzz(func(t *testing.T, which uint8, lines []byte) {
		s := securities[int(which)%len(securities)]
		own, server := secured(t, s.Policy)
		waits := make(chan answer, 1)
		published := 0
		c := &Conn{
			opts: Options{Security: s, Published: func(*ua.PublishResponse) { published++ }},
			tcp:  &replay{in: bytes.NewReader(script(t, lines, server, !s.none() && !s.Sign))}, lost: make(chan struct{}), done: make(chan struct{}),
			waiting: map[uint32]chan answer{1: waits}, in: keyring{1: {token: 1, algo: own}}, parts: make(map[uint32]*parts), opening: &opening{id: 1, algo: own},
		}
		c.receive()
		if c.err == nil || strings.Contains(c.err.Error(), "damaged message (") {
			t.Errorf("the connection ends with %v", c.err)
		}
		if c.partial < 0 || len(c.in) > maxKeys {
			t.Errorf("%d bytes of messages that are not whole, %d keys", c.partial, len(c.in))
		}
		if c.partial > 0 && len(c.parts) == 0 {
			t.Fatalf("%d bytes of no message", c.partial)
		}
	})
}

func encodedResponse(t testing.TB, resp ua.Response) []byte {
	t.Helper()
	resp.SetHeader(&ua.ResponseHeader{ServiceDiagnostics: &ua.DiagnosticInfo{}, AdditionalHeader: ua.NewExtensionObject(nil)})
	id, errID := ua.NewFourByteExpandedNodeID(0, ua.ServiceTypeID(resp)).Encode()
	body, errBody := ua.Encode(resp)
	if err := errors.Join(errID, errBody); err != nil {
		t.Fatal(err)
	}
	return append(id, body...)
}

// openBody is an answer to the opening of a channel, without security.
func openBody(t testing.TB) []byte {
	t.Helper()
	b := ua.NewBuffer(nil)
	b.WriteUint32(7)
	b.WriteString(ua.SecurityPolicyURINone)
	b.WriteByteString(nil)
	b.WriteByteString(nil)
	b.WriteUint32(1)
	b.WriteUint32(1)
	b.Write(encodedResponse(t, &ua.OpenSecureChannelResponse{SecurityToken: &ua.ChannelSecurityToken{ChannelID: 7, TokenID: 2, RevisedLifetime: 1000}}))
	return b.Bytes()
}

// FuzzUnseal opens chunks that are not secured as agreed, and those that are.
func FuzzUnseal(f *testing.F) {
	f.Add(uint8(1), []byte("MSGF000000000000"), []byte("plain"))
	f.Add(uint8(2), []byte("MSGF000000000000"), bytes.Repeat([]byte{15}, 64))
	f.Fuzz(func(t *testing.T, which uint8, header, body []byte) {
		s := securities[int(which)%len(securities)]
		encrypt := !s.none() && !s.Sign
		own, server := secured(t, s.Policy)
		_, err := unseal(own, header, body, encrypt, 0)
		if !s.none() && err == nil {
			t.Error("a chunk without a signature passes")
		}
		for _, size := range []int{0, longKey, 2 * longKey} {
			if plain, err := unpad(body, size); err == nil && len(plain) >= len(body) {
				t.Errorf("padding of %d bytes leaves %d", len(body), len(plain))
			}
		}
		if len(header) < headerSize {
			return
		}
		sealed, err := seal(server, bytes.Clone(header), body, encrypt)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := unseal(own, sealed[:len(header)], sealed[len(header):], encrypt, 0)
		if err != nil || !bytes.Equal(plain, body) {
			t.Errorf("%q sealed and unsealed is %q, %v", body, plain, err)
		}
	})
}

func TestAMessageOfManyChunksIsBoundedOverAllRequests(t *testing.T) {
	c := &Conn{parts: make(map[uint32]*parts), waiting: make(map[uint32]chan answer)}
	half := make([]byte, maxMessage/2+1)
	if _, err := c.gather("MSGC", 1, half); err != nil {
		t.Fatal(err)
	}
	if _, err := c.gather("MSGA", 1, []byte{0, 0, 0, 0, 0, 0, 0, 0}); err != nil || c.partial != 0 {
		t.Errorf("a message that was given up leaves %d bytes, %v", c.partial, err)
	}
	if _, err := c.gather("MSGC", 2, half); err != nil {
		t.Fatal(err)
	}
	if _, err := c.gather("MSGC", 3, half); err == nil {
		t.Error("two messages of half the size of the longest are kept beside each other")
	}
}
