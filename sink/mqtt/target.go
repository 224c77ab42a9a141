// Package mqtt publishes the log to external brokers: one sink each, with its own position, so that nothing is lost while a broker
// is unavailable. The position follows the broker's acknowledgement, so after a crash or a lost connection the last messages may
// come twice.
package mqtt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/point"
	"voltbus/protocol/mqtt/client"
	"voltbus/store"
)

// Target is one broker. It is used by one goroutine.
type Target struct {
	setting.Publish

	file string // of the position
	node string
	conn *client.Conn
	edge *edge // for Sparkplug B; nil for other formats
	now  func() time.Time
}

// position is the content of the file.
type position struct {
	Log      string `json:"log"`
	Sequence uint64 `json:"sequence"`
	Birth    uint64 `json:"birth,omitempty"` // the bdSeq of the last connection of an edge node
}

// Bounds of a connection.
const (
	dialTime = 10 * time.Second
	sendTime = 30 * time.Second
	window   = 1000 // messages pending acknowledgement by the broker
)

// Cursor implements sink.Store.
func (t *Target) Cursor(context.Context) (log string, sequence uint64, err error) {
	p, err := t.position()
	return p.Log, p.Sequence, err
}

func (t *Target) position() (p position, err error) {
	data, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, fault.E("mqtt.Cursor", fault.Corrupt, t.file, fmt.Errorf("%w: remove the file; publishing then begins with the oldest block of the log", err))
	}
	return p, nil
}

func (t *Target) keep(p position) error {
	data, err := json.Marshal(p)
	if err == nil {
		err = (atomicfile.Writer{}).Write(t.file, data, 0o600)
	}
	if err != nil {
		return fault.E("mqtt.Append", fault.Unavailable, t.file, err)
	}
	return nil
}

// Append implements sink.Store: it publishes samples, and stores the position when the broker has them.
func (t *Target) Append(ctx context.Context, blocks []*point.Block) (r store.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	p, err := t.position()
	if err != nil {
		return r, err
	}
	if err := t.connect(ctx, &p); err != nil {
		return r, t.lost(err)
	}
	for _, b := range blocks {
		n, err := t.publish(ctx, b)
		if err != nil {
			return r, t.lost(err)
		}
		r.Stored += n
		p.Log, p.Sequence = b.Log, b.LogSequence
	}
	if err := t.conn.Ping(ctx); err != nil { // its answer follows everything published with QoS 0
		return r, t.lost(err)
	}
	return r, t.keep(p)
}

// lost closes the connection: the next attempt opens a new one.
func (t *Target) lost(err error) error {
	_ = t.Close()
	return fault.E("mqtt.Append", fault.Unavailable, t.Address, err)
}

// Close ends the connection.
func (t *Target) Close() error {
	if t.conn == nil {
		return nil
	}
	if t.edge != nil && t.conn.Err() == nil {
		t.edge.leave(t.conn)
	}
	err := t.conn.Close()
	t.conn = nil
	return err
}

// connect connects unless connected.
func (t *Target) connect(ctx context.Context, p *position) error {
	if t.conn != nil && t.conn.Err() == nil {
		return nil
	}
	_ = t.Close()
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return err
	}
	if t.TLS {
		secure, err := t.secure()
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		secured := tls.Client(conn, secure)
		if err := secured.HandshakeContext(ctx); err != nil {
			return errors.Join(err, conn.Close())
		}
		conn = secured
	}
	cfg := client.Config{ClientID: t.Client, User: t.User}
	if t.PasswordFile != "" {
		password, err := os.ReadFile(t.PasswordFile)
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		cfg.Password = strings.TrimSpace(string(password))
	}
	if t.edge == nil {
		t.conn, err = client.New(ctx, conn, cfg)
		return err
	}
	p.Birth++
	if err := t.keep(*p); err != nil {
		return errors.Join(err, conn.Close())
	}
	t.conn, err = t.edge.connect(ctx, conn, cfg, p.Birth)
	return err
}

// secure returns the TLS configuration for the broker.
func (t *Target) secure() (*tls.Config, error) {
	s := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if s.ServerName == "" {
		s.ServerName, _, _ = net.SplitHostPort(t.Address)
	}
	if t.CA == "" {
		return s, nil
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, err
	}
	s.RootCAs = x509.NewCertPool()
	if !s.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate; write a PEM file", t.CA)
	}
	return s, nil
}

// wanted reports whether samples of a point are published.
func (t *Target) wanted(path point.Path) bool {
	for _, p := range t.Points {
		if point.Pattern(p).Match(path) {
			return true
		}
	}
	return false
}

// publish publishes the wanted samples of a block, and waits until the broker has them.
func (t *Target) publish(ctx context.Context, b *point.Block) (n int, err error) {
	wanted := make([]bool, len(b.Points))
	for i, path := range b.Points {
		wanted[i] = t.wanted(path)
	}
	if t.edge != nil {
		return t.edge.publish(t.conn, b, wanted, t.now())
	}
	var acks []<-chan error
	for i := range b.Point {
		if !wanted[b.Point[i]] {
			continue
		}
		s := b.Sample(i)
		m, err := t.message(&s)
		if err != nil {
			return n, err
		}
		ack, err := t.conn.Begin(m)
		if err != nil {
			return n, err
		}
		if acks = append(acks, ack); len(acks) >= window {
			if err := await(ctx, acks); err != nil {
				return n, err
			}
			acks = acks[:0]
		}
		n++
	}
	return n, await(ctx, acks)
}

func await(ctx context.Context, acks []<-chan error) error {
	for _, ack := range acks {
		select {
		case err := <-ack:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("the broker does not acknowledge: %w", ctx.Err())
		}
	}
	return nil
}

// sample is a message in JSON.
type sample struct {
	Point   string      `json:"point"`
	Time    time.Time   `json:"time"`
	Value   point.Value `json:"value"`
	Quality string      `json:"quality"`
}

// plainTopic converts a path to topic levels, replacing wildcard characters.
var plainTopic = strings.NewReplacer("%", "%25", "+", "%2B", "#", "%23") //nolint:gochecknoglobals // a table

// message returns the message of a sample.
func (t *Target) message(s *point.Sample) (*client.Message, error) {
	m := &client.Message{
		Topic: strings.NewReplacer("{node}", plainTopic.Replace(t.node), "{path}", plainTopic.Replace(string(s.Point))).Replace(t.Topic), QoS: 1, Retain: t.Retain,
	}
	if t.Format == setting.Plain {
		if !s.Quality.IsBad() {
			m.Payload = []byte(s.Value.String())
		}
		return m, nil
	}
	var err error
	m.Payload, err = json.Marshal(sample{string(s.Point), s.Time.UTC(), s.Value, s.Quality.String()})
	return m, err
}

// fileOf returns the file of a broker's position.
func fileOf(dir, name string) string { return filepath.Join(dir, "mqtt-publish-"+name+".json") }
