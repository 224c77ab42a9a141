package metersim

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"voltbus/fault"
)

// target is where messages go.
type target struct {
	address string // host:port
	secure  *tls.Config
	head    []byte // of a request, up to the length of its body
	kept    bool   // connections stay open
}

func newTargets(f *Fleet, form form) (out []*target, err error) {
	for _, token := range f.Tokens {
		t, err := newTarget(f, form, token)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func newTarget(f *Fleet, form form, token string) (*target, error) {
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" {
		return nil, fault.E("metersim", fault.Invalid, f.URL, errors.New("is no address of a node"))
	}
	t := &target{address: u.Host, kept: f.Kept}
	head := "POST " + form.path + " HTTP/1.1\r\nHost: " + u.Host + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: " + form.media + "\r\n"
	if f.Gzip {
		head += "Content-Encoding: gzip\r\n"
	}
	if !f.Kept {
		head += "Connection: close\r\n"
	}
	t.head = []byte(head + "Content-Length: ")
	if u.Scheme == "https" {
		pool := x509.NewCertPool()
		pem, err := os.ReadFile(f.CA)
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, fault.E("metersim", fault.Invalid, f.CA, errors.Join(errors.New("holds no certificate"), err))
		}
		t.secure = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	}
	return t, nil
}

// line sends requests one after another, on one connection if it is kept. One goroutine uses it. It does what
// http.Client does at a fraction of its processor time, which would be missing where the node is measured.
type line struct {
	to      *target
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	body    bytes.Buffer
}

// patience is how long an answer may take.
const patience = time.Minute

// post sends a body and returns the answer, which holds until the next call.
func (l *line) post(ctx context.Context, body []byte) (status int, answer []byte, err error) {
	if l.conn == nil {
		if err := l.dial(ctx); err != nil {
			return 0, nil, err
		}
	}
	status, err = l.exchange(body)
	if err != nil || !l.to.kept {
		l.close()
	}
	return status, l.body.Bytes(), err
}

func (l *line) dial(ctx context.Context) error {
	d := net.Dialer{Timeout: patience}
	conn, err := d.DialContext(ctx, "tcp", l.to.address)
	if err != nil {
		return fault.E("metersim.dial", fault.Unavailable, l.to.address, err)
	}
	if l.to.secure != nil {
		cfg := l.to.secure.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(l.to.address)
		conn = tls.Client(conn, cfg)
	}
	l.conn = conn
	if l.in == nil {
		l.in = bufio.NewReader(conn)
	} else {
		l.in.Reset(conn)
	}
	return nil
}

func (l *line) exchange(body []byte) (int, error) {
	if err := l.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	l.request = append(l.request[:0], l.to.head...)
	l.request = strconv.AppendInt(l.request, int64(len(body)), 10)
	l.request = append(append(l.request, "\r\n\r\n"...), body...)
	if _, err := l.conn.Write(l.request); err != nil {
		return 0, fault.E("metersim.post", fault.Unavailable, l.to.address, err)
	}
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0, fault.E("metersim.post", fault.Unavailable, l.to.address, fmt.Errorf("read the answer: %w", err))
	}
	defer resp.Body.Close()
	l.body.Reset()
	if _, err := l.body.ReadFrom(io.LimitReader(resp.Body, mostAnswer)); err != nil {
		return 0, fault.E("metersim.post", fault.Unavailable, l.to.address, fmt.Errorf("read the answer: %w", err))
	}
	if resp.Close {
		l.close()
	}
	return resp.StatusCode, nil
}

// mostAnswer bounds an answer: an answer that refuses a hundred thousand readings is shorter.
const mostAnswer = 32 << 20

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close() // what was answered was read
		l.conn = nil
	}
}

// accepted reads how many readings an answer says were taken; every form says it in this word.
func accepted(answer []byte) (int, bool) {
	_, rest, found := bytes.Cut(answer, []byte("accepted"))
	if !found {
		return 0, false
	}
	for len(rest) > 0 && (rest[0] < '0' || rest[0] > '9') {
		rest = rest[1:]
	}
	n, digits := 0, 0
	for ; digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
		n = 10*n + int(rest[digits]-'0')
	}
	return n, digits > 0
}
