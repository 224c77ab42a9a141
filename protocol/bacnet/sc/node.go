package sc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"voltbus/protocol/bacnet/sc/websocket"
)

// Config is what a node is, and to which hubs it connects.
type Config struct {
	VMAC         VMAC // zero: a random one. Another random one takes its place when a hub says that another node has it (AB.6.2.2)
	UUID         UUID
	Primary      string // address of the primary hub, such as wss://10.0.0.1:4443/
	Failover     string // and of the one that is used while that cannot be reached; "" for none
	Certificates Certificates
	// Handler takes NPDUs. It is called by one goroutine, owns the data, and must not block.
	Handler func(from VMAC, npdu []byte, broadcast bool)
	// Changed is told when the node is connected to a hub, or why it is not any more; nil ignores it. It must not block.
	Changed func(hub string, err error)

	Heartbeat time.Duration // between two heartbeats, 3 to 300 s; 300 s
	Reconnect time.Duration // before the first attempt to connect again, at most 300 s; 10 s, doubled up to MaxReconnect
	// MaxReconnect bounds the time between two attempts to connect, at most 600 s (AB.6.1); 600 s.
	MaxReconnect time.Duration
	Wait         time.Duration // for the hub's answer to Connect-Request and heartbeats; 10 s
}

// Node is a node of a BACnet/SC network (AB.5.2). Run does the work. Send may be called by several goroutines.
type Node struct {
	config Config
	retry  chan struct{} // somebody wants the next attempt to connect now; holds one

	mu     sync.Mutex
	vmac   VMAC
	link   *link // nil: not connected
	nextID uint16
}

// link is a connection to a hub that has accepted the node.
type link struct {
	hub   string
	conn  *websocket.Conn
	peer  Connect
	heard chan struct{} // something arrived; holds one
	doubt chan struct{} // the hub may be away; holds one
}

// ErrNotConnected says that no hub takes messages now.
var ErrNotConnected = errors.New("the node is not connected to a hub")

// ErrNPDU says that an NPDU is longer than the hub takes.
var ErrNPDU = errors.New("the NPDU is longer than the hub takes")

// New returns a node that is not connected.
func New(c Config) *Node {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 5 * time.Minute
	}
	if c.Reconnect <= 0 {
		c.Reconnect = 10 * time.Second
	}
	if c.Wait <= 0 {
		c.Wait = 10 * time.Second
	}
	if c.MaxReconnect <= 0 {
		c.MaxReconnect = maxReconnect
	}
	if c.VMAC == (VMAC{}) {
		c.VMAC = RandomVMAC()
	}
	return &Node{config: c, vmac: c.VMAC, retry: make(chan struct{}, 1)}
}

// VMAC returns the address of the node.
func (n *Node) VMAC() VMAC {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.vmac
}

// Hub returns the address of the hub that the node is connected to; "" if it is not.
func (n *Node) Hub() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.link == nil {
		return ""
	}
	return n.link.hub
}

// Send sends an NPDU to a node, or to all with [BroadcastVMAC].
func (n *Node) Send(to VMAC, npdu []byte) error {
	n.mu.Lock()
	l := n.link
	n.nextID++
	id := n.nextID
	n.mu.Unlock()
	switch {
	case l == nil:
		return ErrNotConnected
	case len(npdu) > min(MaxNPDU, int(l.peer.MaxNPDU)):
		return ErrNPDU
	}
	return l.conn.Write(Message{Function: EncapsulatedNPDU, ID: id, Destination: &to, Payload: npdu}.Append(nil))
}

// maxReconnect bounds the time between two attempts to connect (AB.6.1: 600 s).
const maxReconnect = 10 * time.Minute

// Run keeps the node connected until ctx ends: to the primary hub if it can be reached, else to the failover hub while the primary is
// tried again (AB.5.2). It returns nil.
func (n *Node) Run(ctx context.Context) error {
	wait := n.config.Reconnect
	timer := time.NewTimer(0)
	defer timer.Stop()
	for last := (time.Time{}); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-n.retry:
			wait = n.config.Reconnect
			timer.Reset(time.Until(last.Add(wait)))
			continue
		case <-timer.C:
		}
		last = time.Now()
		if n.connectOnce(ctx) {
			wait, last = n.config.Reconnect, time.Now()
		} else {
			wait = min(2*wait, n.config.MaxReconnect)
		}
		timer.Reset(wait)
	}
}

// Retry has a node that is not connected try it at once, or as soon as Config.Reconnect has gone by since it last did.
func (n *Node) Retry() {
	if n.Hub() != "" {
		return
	}
	select {
	case n.retry <- struct{}{}:
	default:
	}
}

// connectOnce connects to a hub and serves the connection until it ends. It reports whether there was one.
func (n *Node) connectOnce(ctx context.Context) (connected bool) {
	for _, hub := range []string{n.config.Primary, n.config.Failover} {
		if hub == "" {
			continue
		}
		l, err := n.dial(ctx, hub)
		if err != nil {
			n.tell(hub, err)
			continue
		}
		n.serveAndReturn(ctx, l)
		return true
	}
	return false
}

func (n *Node) tell(hub string, err error) {
	if n.config.Changed != nil {
		n.config.Changed(hub, err)
	}
}

// dial connects to a hub, which must accept the node.
func (n *Node) dial(ctx context.Context, hub string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, n.config.Wait)
	defer cancel()
	if err := n.config.Certificates.Valid(time.Now()); err != nil {
		return nil, fmt.Errorf("hub %s: %w", hub, err)
	}
	conn, err := websocket.Dial(ctx, hub, websocket.Options{Protocol: HubProtocol, Most: MaxMessage, TLS: n.config.Certificates.node()})
	if err != nil {
		return nil, fmt.Errorf("hub %s: %w", hub, explainDial(err))
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
	defer stop()
	l := &link{hub: hub, conn: conn, heard: make(chan struct{}, 1), doubt: make(chan struct{}, 1)}
	if l.peer, err = n.introduce(conn); err != nil {
		_ = conn.NetConn().Close()
		return nil, fmt.Errorf("hub %s: %w", hub, explainDial(err))
	}
	return l, nil
}

// introduce says who the node is (AB.6.2.1).
func (n *Node) introduce(conn *websocket.Conn) (Connect, error) {
	const id = 0
	own := Connect{VMAC: n.VMAC(), UUID: n.config.UUID, MaxBVLC: MaxMessage, MaxNPDU: MaxNPDU}
	if err := conn.Write(Message{Function: ConnectRequest, ID: id, Payload: own.Append(nil)}.Append(nil)); err != nil {
		return Connect{}, err
	}
	for {
		raw, err := conn.Read()
		if err != nil {
			return Connect{}, err
		}
		m, err := Parse(raw)
		if err != nil {
			return Connect{}, err
		}
		switch m.Function {
		case ConnectAccept:
			return ParseConnect(m.Payload)
		case Result:
			o, err := ParseOutcome(m.Payload)
			if err == nil {
				err = o
			}
			if o.Code == codeDuplicate {
				n.mu.Lock()
				n.vmac = RandomVMAC()
				n.mu.Unlock()
			}
			return Connect{}, err
		default: // not for somebody who is not connected
		}
	}
}
