package websocket

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 §4.2.2 says so; nothing depends on its strength
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are how connections are made.
type Options struct {
	Protocol string      // that both ends name, such as hub.bsc.bacnet.org
	Most     int         // octets of a message that is taken
	TLS      *tls.Config // of Dial
}

// guid is what a server adds to the key of a client (§4.2.2).
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

func accept(key string) string {
	sum := sha1.Sum([]byte(key + guid)) //nolint:gosec // see above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Why a connection is not made.
var (
	errURL      = errors.New("is no address of a BACnet/SC hub; write wss://host:port/")
	errRequest  = errors.New("the request is no request for a WebSocket of this protocol")
	errHijack   = errors.New("this version of HTTP cannot carry a WebSocket")
	errUpgrade  = errors.New("the server does not speak WebSocket here")
	errProtocol = errors.New("the server does not speak the protocol that was asked for")
)

// Dial connects to a server. It ends with ctx; the connection does not.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "wss" || u.Hostname() == "" {
		return nil, fmt.Errorf("%.200q %w", address, errURL)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	dialer := tls.Dialer{Config: o.TLS}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	c, err := upgrade(conn, u, o)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// upgrade asks for the WebSocket.
func upgrade(conn net.Conn, u *url.URL, o Options) (*Conn, error) {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	key := base64.StdEncoding.EncodeToString(raw)
	request := &http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Key": {key}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Protocol": {o.Protocol},
		},
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Sec-Websocket-Accept") != accept(key):
		return nil, fmt.Errorf("%w: %s", errUpgrade, answer.Status)
	case answer.Header.Get("Sec-Websocket-Protocol") != o.Protocol:
		return nil, errProtocol
	}
	return newConn(conn, in, true, o.Most), nil
}

// Accept makes a request for a WebSocket a connection. With an error the request has been answered.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (*Conn, error) {
	key := r.Header.Get("Sec-Websocket-Key")
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) != 16 || r.Method != http.MethodGet || !holds(r.Header, "Upgrade", "websocket") ||
		!holds(r.Header, "Connection", "upgrade") || !holds(r.Header, "Sec-Websocket-Protocol", o.Protocol) ||
		r.Header.Get("Sec-Websocket-Version") != "13" {
		http.Error(w, errRequest.Error(), http.StatusBadRequest)
		return nil, errRequest
	}
	h, can := w.(http.Hijacker)
	if !can {
		http.Error(w, errHijack.Error(), http.StatusInternalServerError)
		return nil, errHijack
	}
	conn, buffered, err := h.Hijack()
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{}) // those of the server were for the request
	answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		accept(key) + "\r\nSec-WebSocket-Protocol: " + o.Protocol + "\r\n\r\n"
	if _, err := conn.Write([]byte(answer)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return newConn(conn, buffered.Reader, false, o.Most), nil
}

// holds reports whether a list in a header has a word, in any case.
func holds(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}
