package sc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"voltbus/protocol/bacnet/sc/websocket"
)

// HubConfig is what a hub is.
type HubConfig struct {
	VMAC         VMAC
	UUID         UUID
	Certificates Certificates
	MaxNodes     int // that are connected at once; 1024
	Queue        int // messages that wait for a slow node, which loses the others; 256
	// Changed is told of nodes that come and go; nil ignores them. It must not block.
	Changed func(at net.Addr, node Connect, joined bool)
	// Refused is told of what was not let in, and why; nil ignores it. It must not block.
	Refused func(text string)
}

// Hub passes messages on between the nodes that are connected to it (AB.5.3). Run does the work.
type Hub struct {
	config HubConfig

	mu      sync.Mutex
	nodes   map[VMAC]*member
	ended   bool // no connection is served any more
	running sync.WaitGroup
	dropped uint64
}

// member is a node that is connected.
type member struct {
	Connect

	conn *websocket.Conn
	out  chan []byte
}

// NewHub returns a hub without nodes.
func NewHub(c HubConfig) *Hub {
	if c.MaxNodes <= 0 {
		c.MaxNodes = 1024
	}
	if c.Queue <= 0 {
		c.Queue = 256
	}
	return &Hub{config: c, nodes: make(map[VMAC]*member)}
}

// Run accepts nodes from a listener, without TLS, which the hub adds, until ctx ends; then it closes listener and connections, and
// returns nil.
func (h *Hub) Run(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(ctx, w, r) }),
		ReadHeaderTimeout: connectTime, ErrorLog: slog.NewLogLogger(refused(h.refused), slog.LevelInfo),
	}
	stop := context.AfterFunc(ctx, func() {
		_ = server.Close()
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, m := range h.nodes {
			_ = m.conn.NetConn().Close()
		}
	})
	defer stop()
	err := server.Serve(tls.NewListener(l, h.config.Certificates.hub()))
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.running.Wait()
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("BACnet/SC hub: %w", err)
}

// refused takes what an HTTP server says of connections that it did not take.
type refused func(text string)

// Enabled implements slog.Handler.
func (r refused) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r refused) Handle(_ context.Context, record slog.Record) error {
	r(strings.TrimPrefix(strings.TrimSpace(record.Message), "http: "))
	return nil
}

// WithAttrs implements slog.Handler.
func (r refused) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup implements slog.Handler.
func (r refused) WithGroup(string) slog.Handler { return r }

func (h *Hub) refused(text string) {
	if h.config.Refused != nil {
		h.config.Refused(text)
	}
}

func (h *Hub) changed(m *member, joined bool) {
	if h.config.Changed != nil {
		h.config.Changed(m.conn.NetConn().RemoteAddr(), m.Connect, joined)
	}
}

// Nodes returns who is connected, and how many messages were dropped because a node did not take them.
func (h *Hub) Nodes() (nodes []Connect, dropped uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.nodes {
		nodes = append(nodes, m.Connect)
	}
	return nodes, h.dropped
}

// connectTime is how long a node may take to say who it is (AB.6.2.2).
const connectTime = 10 * time.Second

// idleTime is how long a connection may be silent: nodes send a heartbeat at least every 5 minutes (AB.6.3).
const idleTime = 11 * time.Minute

// serve serves the connection of a node.
func (h *Hub) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, websocket.Options{Protocol: HubProtocol, Most: MaxMessage})
	if err != nil {
		return
	}
	if !h.begin() {
		_ = conn.Close()
		return
	}
	defer h.running.Done()
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
	defer stop()
	m, err := h.admit(conn)
	if err != nil {
		h.refused(fmt.Sprintf("connection from %v: %v", conn.NetConn().RemoteAddr(), err))
		return
	}
	h.running.Go(m.send)
	h.changed(m, true)
	defer h.changed(m, false)
	defer h.leave(m)
	for {
		_ = conn.NetConn().SetReadDeadline(time.Now().Add(idleTime))
		raw, err := conn.Read()
		if err != nil || !h.take(m, raw) {
			return
		}
	}
}

// begin reports whether a connection is served; Run waits until it is done then.
func (h *Hub) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.running.Add(1)
	}
	return !h.ended
}

// admit takes the Connect-Request of a node. The answer is the first message that is for the node, and nothing waits until it has left:
// a node that knows of its admission is served.
func (h *Hub) admit(conn *websocket.Conn) (*member, error) {
	_ = conn.NetConn().SetReadDeadline(time.Now().Add(connectTime))
	raw, err := conn.Read()
	if err != nil {
		return nil, err
	}
	request, err := Parse(raw)
	if err != nil || request.Function != ConnectRequest {
		return nil, ErrPayload
	}
	who, err := ParseConnect(request.Payload)
	if err != nil {
		return nil, err
	}
	m := &member{Connect: who, conn: conn, out: make(chan []byte, 1+h.config.Queue)}
	own := Connect{VMAC: h.config.VMAC, UUID: h.config.UUID, MaxBVLC: MaxMessage, MaxNPDU: MaxNPDU}
	m.out <- Message{Function: ConnectAccept, ID: request.ID, Payload: own.Append(nil)}.Append(nil) // before what others send to it
	if err := h.enter(m); err != nil {
		no := Outcome{Function: ConnectRequest, Refused: true, Class: classCommunication, Code: codeDuplicate, Details: err.Error()}
		_ = conn.Write(Message{Function: Result, ID: request.ID, Payload: no.Append(nil)}.Append(nil))
		return nil, err
	}
	return m, nil
}

// Why a node is not admitted.
var (
	errDuplicate = errors.New("another node has this address")
	errFull      = errors.New("the hub has as many nodes as it takes")
)

// enter makes a node one of the hub's. The same device takes the place of its earlier connection (AB.6.2.3).
func (h *Hub) enter(m *member) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.nodes[m.VMAC]
	switch {
	case m.VMAC == h.config.VMAC, before != nil && before.UUID != m.UUID:
		return errDuplicate
	case before == nil && len(h.nodes) >= h.config.MaxNodes:
		return errFull
	}
	for _, other := range h.nodes {
		if other.UUID == m.UUID {
			delete(h.nodes, other.VMAC)
			close(other.out)
			_ = other.conn.NetConn().Close()
		}
	}
	h.nodes[m.VMAC] = m
	return nil
}

// leave ends a node, unless another connection has taken its place.
func (h *Hub) leave(m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nodes[m.VMAC] == m {
		delete(h.nodes, m.VMAC)
		close(m.out)
	}
}

// send sends what is for the node, until it leaves.
func (m *member) send() {
	for message := range m.out {
		if m.conn.Write(message) != nil {
			_ = m.conn.NetConn().Close() // the reader ends
		}
	}
}

// take takes a message of a node; false ends its connection.
func (h *Hub) take(from *member, raw []byte) bool {
	m, err := Parse(raw)
	if err != nil || m.Origin != nil { // the hub adds who sent it (AB.5.3.2)
		return true
	}
	if m.Destination != nil {
		h.pass(from, m)
		return true
	}
	switch m.Function {
	case HeartbeatRequest:
		h.put(from, Message{Function: HeartbeatAck, ID: m.ID})
	case DisconnectRequest:
		h.put(from, Message{Function: DisconnectAck, ID: m.ID})
		return false
	case DisconnectAck:
		return false
	case Result, HeartbeatAck, ConnectAccept, EncapsulatedNPDU, Advertisement, AddressResolutionAck:
	default:
		no := Outcome{Function: m.Function, Refused: true, Class: classCommunication, Code: codeUnknownFunction}
		h.put(from, Message{Function: Result, ID: m.ID, Payload: no.Append(nil)})
	}
	return true
}

// pass passes a message on to one node, or to all others.
func (h *Hub) pass(from *member, m Message) {
	to := *m.Destination
	m.Origin = &from.VMAC
	if to != BroadcastVMAC() {
		m.Destination = nil
	}
	raw := m.Append(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	if to != BroadcastVMAC() {
		if other := h.nodes[to]; other != nil {
			h.offer(other, raw)
		}
		return
	}
	for _, other := range h.nodes {
		if other != from {
			h.offer(other, raw)
		}
	}
}

func (h *Hub) put(to *member, m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nodes[to.VMAC] == to {
		h.offer(to, m.Append(nil))
	}
}

// offer queues a message for a node that takes messages so long. The mutex is held.
func (h *Hub) offer(to *member, raw []byte) {
	if len(raw) > int(to.MaxBVLC) {
		h.dropped++
		return
	}
	select {
	case to.out <- raw:
	default:
		h.dropped++
	}
}
