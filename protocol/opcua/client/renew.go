package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"

	"voltbus/protocol/opcua/measure"
)

// opening is a request for keys that was not answered yet.
type opening struct {
	id    uint32
	nonce []byte
	algo  *uapolicy.EncryptionAlgorithm
}

// open opens the channel (Part 4, clause 5.5.2).
func (c *Conn) open(ctx context.Context) error {
	return c.openOrRenew(ctx, ua.SecurityTokenRequestTypeIssue)
}

// renew gets new keys once three quarters of the life of the present ones are over.
func (c *Conn) renew(ctx context.Context) error {
	if !c.due() {
		return nil
	}
	c.renewing.Lock()
	defer c.renewing.Unlock()
	if !c.due() {
		return nil
	}
	return c.openOrRenew(ctx, ua.SecurityTokenRequestTypeRenew)
}

func (c *Conn) due() bool {
	c.sending.Lock()
	defer c.sending.Unlock()
	return time.Now().After(c.out.renewAt)
}

func (c *Conn) openOrRenew(ctx context.Context, kind ua.SecurityTokenRequestType) error {
	s := &c.opts.Security
	algo, err := s.asymmetric(s.policy())
	if err != nil {
		return err
	}
	nonce, err := algo.MakeNonce()
	if err != nil {
		return err
	}
	lifetime := c.opts.Lifetime
	if lifetime <= 0 {
		lifetime = time.Hour
	}
	req := &ua.OpenSecureChannelRequest{
		RequestType: kind, SecurityMode: s.mode(), ClientNonce: nonce, RequestedLifetime: uint32(lifetime.Milliseconds()), //nolint:gosec // hours
	}
	resp, err := c.exchange(ctx, req, c.opts.Timeout, func(id uint32, body []byte, limit time.Time) error {
		c.mu.Lock()
		c.opening = &opening{id: id, nonce: nonce, algo: algo}
		c.mu.Unlock()
		return c.sendOpen(id, body, algo, limit)
	})
	if err != nil {
		return err
	}
	opened, is := resp.(*ua.OpenSecureChannelResponse)
	if !is || opened.SecurityToken == nil {
		return fmt.Errorf("the server answers %T to the opening of a channel", resp)
	}
	life := min(lifetime, time.Duration(opened.SecurityToken.RevisedLifetime)*time.Millisecond)
	c.mu.Lock()
	k := c.in[opened.SecurityToken.TokenID]
	c.mu.Unlock()
	if k == nil {
		return errors.New("the server has no keys for the channel")
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	k.renewAt = time.Now().Add(life * 3 / 4)
	c.channel, c.out = opened.SecurityToken.ChannelID, k
	return nil
}

// sendOpen sends an OPN message: it is secured by the keys of the certificates.
func (c *Conn) sendOpen(id uint32, body []byte, algo *uapolicy.EncryptionAlgorithm, limit time.Time) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	s := &c.opts.Security
	header := ua.NewBuffer(nil)
	header.Write([]byte("OPNF"))
	header.WriteUint32(0)
	header.WriteUint32(c.channel)
	header.WriteString(s.policy())
	if s.none() {
		header.WriteByteString(nil)
		header.WriteByteString(nil)
	} else {
		header.WriteByteString(s.Certificate)
		header.WriteByteString(thumbprint(s.ServerCertificate))
	}
	return c.chunk(chunk{header.Bytes(), id, body, algo, !s.none()}, limit)
}

// receive reads messages until the connection ends.
func (c *Conn) receive() {
	defer close(c.done)
	for {
		if err := c.receiveOne(); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the server ended it")
			}
			c.End(err)
			return
		}
	}
}

// receiveOne reads a chunk. What the decoder cannot handle is an error of the server.
func (c *Conn) receiveOne() (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("the server sent a damaged message (%v)", what)
		}
	}()
	kind, body, err := readFrame(c.tcp)
	if err != nil {
		return err
	}
	switch kind {
	case "MSGF", "MSGC", "MSGA", "OPNF":
	case "ERRF":
		return refusal(body)
	default:
		return fmt.Errorf("the server sent a frame of the kind %q", kind)
	}
	plain, k, err := c.openChunk(kind, body)
	if err != nil {
		return err
	}
	in := ua.NewBuffer(plain)
	_, id := in.ReadUint32(), in.ReadUint32()
	if in.Error() != nil {
		return in.Error()
	}
	whole, err := c.gather(kind, id, in.Bytes())
	if whole == nil || err != nil {
		return err
	}
	return c.deliver(id, whole, k)
}

// openChunk decrypts what follows the header of a frame. For OPN it returns the request that it answers.
func (c *Conn) openChunk(kind string, body []byte) (plain []byte, open *opening, err error) {
	s := &c.opts.Security
	in := ua.NewBuffer(body)
	_ = in.ReadUint32() // the channel; keys are found by their token
	if kind != "OPNF" {
		token := in.ReadUint32()
		c.mu.Lock()
		k := c.in[token]
		c.mu.Unlock()
		if in.Error() != nil || k == nil {
			return nil, nil, errSecurity
		}
		plain, err = unseal(k.algo, frameHeader(kind, body, in.Pos()), body[in.Pos():], s.mode() == ua.MessageSecurityModeSignAndEncrypt, 0)
		return plain, nil, err
	}
	policy, cert := in.ReadString(), in.ReadBytes()
	_ = in.ReadBytes()
	c.mu.Lock()
	open = c.opening
	c.opening = nil
	c.mu.Unlock()
	if in.Error() != nil || open == nil || policy != s.policy() || !s.none() && !sameLeaf(cert, s.ServerCertificate) {
		return nil, nil, errSecurity
	}
	own := 0
	if s.Key != nil {
		own = s.Key.Size()
	}
	plain, err = unseal(open.algo, frameHeader(kind, body, in.Pos()), body[in.Pos():], !s.none(), own)
	return plain, open, err
}

func sameLeaf(a, b []byte) bool {
	x, err := leaf(a)
	if err != nil {
		return false
	}
	y, err := leaf(b)
	return err == nil && bytes.Equal(x.Raw, y.Raw)
}

// frameHeader is the header of a frame as it came, up to so many bytes of its body: the signature covers it.
func frameHeader(kind string, body []byte, n int) []byte {
	header := ua.NewBuffer([]byte{})
	header.Write([]byte(kind))
	header.WriteUint32(uint32(headerSize + len(body))) //nolint:gosec // bounded by bufferSize
	header.Write(body[:n])
	return header.Bytes()
}

// gather returns a message once its last chunk has come.
func (c *Conn) gather(kind string, id uint32, body []byte) ([]byte, error) {
	p := c.parts[id]
	if kind[3] != 'C' && p != nil {
		delete(c.parts, id)
		c.partial -= len(p.body)
	}
	switch kind[3] {
	case 'A':
		c.give(id, answer{err: refusal(body)})
		return nil, nil
	case 'C':
		if p == nil {
			p = &parts{}
			c.parts[id] = p
		}
		p.body, p.n = append(p.body, body...), p.n+1
		if c.partial += len(body); c.partial > maxMessage || p.n > maxChunks || len(c.parts) > maxPartial {
			return nil, errors.New("the server sent a message that is too long")
		}
		return nil, nil
	}
	if p != nil {
		body = append(p.body, body...)
	}
	return body, nil
}

// deliver decodes a message and gives it to who waits.
func (c *Conn) deliver(id uint32, body []byte, open *opening) error {
	resp, err := decode(body)
	if err != nil {
		if open != nil {
			return errSecurity
		}
		c.give(id, answer{err: fmt.Errorf("the server's answer cannot be decoded: %w", err)})
		return nil
	}
	if result := resp.Header().ServiceResult; result&severity == severity {
		c.give(id, answer{err: result})
		return nil
	}
	if opened, is := resp.(*ua.OpenSecureChannelResponse); is {
		if open == nil || open.id != id || opened.SecurityToken == nil {
			return errSecurity
		}
		algo, err := uapolicy.Symmetric(c.opts.Security.policy(), open.nonce, opened.ServerNonce)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.in.add(&key{token: opened.SecurityToken.TokenID, algo: algo})
		c.mu.Unlock()
	}
	if published, is := resp.(*ua.PublishResponse); is && c.opts.Published != nil {
		c.opts.Published(published)
	}
	c.give(id, answer{resp: resp})
	return nil
}

// decode decodes a response, if it is one that takes no more memory than a response may.
func decode(body []byte) (ua.Response, error) {
	if _, _, err := measure.Response(body); err != nil {
		return nil, err
	}
	_, v, err := ua.DecodeService(body)
	if err != nil {
		return nil, err
	}
	resp, is := v.(ua.Response)
	if !is || resp.Header() == nil {
		return nil, measure.ErrNoResponse
	}
	return resp, nil
}

// severity is the severity of a bad status code (Part 4, clause 7.39).
const severity ua.StatusCode = 0x8000_0000

// maxKeys is how many keys are accepted at once: that in use, that before it, and a spare one.
const maxKeys = 3

// keyring are the keys that the server's messages may have, by token.
type keyring map[uint32]*key

func (r keyring) add(k *key) {
	for len(r) >= maxKeys {
		oldest := k.token
		for token := range r {
			if oldest == k.token || token < oldest {
				oldest = token
			}
		}
		delete(r, oldest)
	}
	r[k.token] = k
}

func (c *Conn) give(id uint32, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.waiting[id]; ch != nil {
		delete(c.waiting, id)
		ch <- a
	}
}
