package sc

import (
	"context"
	"sync"
	"time"
)

// serveAndReturn serves a connection until it ends. One to the failover hub ends when the primary hub accepts the node, whose
// connection is served then.
func (n *Node) serveAndReturn(ctx context.Context, l *link) {
	for l != nil {
		n.mu.Lock()
		n.link = l
		n.mu.Unlock()
		n.tell(l.hub, nil)
		next, err := n.serve(ctx, l)
		n.mu.Lock()
		n.link = next
		n.mu.Unlock()
		if next == nil {
			n.tell(l.hub, err)
		}
		l = next
	}
}

// serve serves a connection until it ends, or the primary hub can be reached: then it returns the connection to that.
func (n *Node) serve(ctx context.Context, l *link) (next *link, err error) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		_ = l.conn.Write(Message{Function: DisconnectRequest}.Append(nil))
		_ = l.conn.Close()
	})
	var beside sync.WaitGroup
	beside.Go(func() { n.beat(ctx, l) })
	if l.hub != n.config.Primary {
		beside.Go(func() {
			if next = n.primary(ctx); next != nil {
				cancel()
			}
		})
	}
	err = n.read(l)
	cancel()
	beside.Wait()
	if stop() {
		_ = l.conn.Close()
	}
	return next, err
}

// primary tries to reach the primary hub until ctx ends; then it returns nil.
func (n *Node) primary(ctx context.Context) *link {
	ticker := time.NewTicker(n.config.Reconnect)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if l, err := n.dial(ctx, n.config.Primary); err == nil {
			return l
		}
	}
}

// doubtTime is how long a hub that is in doubt may take to answer a heartbeat.
const doubtTime = 1500 * time.Millisecond

// Doubt has the node check at once whether its hub is there, such as when nobody answers.
func (n *Node) Doubt() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.link == nil {
		return
	}
	select {
	case n.link.doubt <- struct{}{}:
	default:
	}
}

// beat sends heartbeats while nothing arrives, and gives the hub up if it does not answer (AB.6.3).
func (n *Node) beat(ctx context.Context, l *link) {
	timer := time.NewTimer(n.config.Heartbeat)
	defer timer.Stop()
	waits := false
	for {
		patience := n.config.Wait
		select {
		case <-ctx.Done():
			return
		case <-l.heard:
			waits = false
			timer.Reset(n.config.Heartbeat)
			continue
		case <-l.doubt:
			if waits {
				continue
			}
			patience = min(patience, doubtTime)
		case <-timer.C:
		}
		if waits || l.conn.Write(Message{Function: HeartbeatRequest}.Append(nil)) != nil {
			_ = l.conn.NetConn().Close()
			return
		}
		waits = true
		timer.Reset(patience)
	}
}

// read takes what arrives until the connection ends.
func (n *Node) read(l *link) error {
	for {
		raw, err := l.conn.Read()
		if err != nil {
			return err
		}
		select {
		case l.heard <- struct{}{}:
		default:
		}
		m, err := Parse(raw)
		if err != nil {
			continue
		}
		if err := n.take(l, m); err != nil {
			return err
		}
	}
}

// take takes one message.
func (n *Node) take(l *link, m Message) error {
	broadcast := m.Destination != nil && *m.Destination == BroadcastVMAC()
	if o := unknown(m.DestOptions); o != nil {
		return n.refuse(l, m, broadcast, Outcome{Marker: o.Type | mustKnow, Code: codeNotUnderstood})
	}
	switch m.Function {
	case EncapsulatedNPDU:
		if m.Origin == nil || len(m.Payload) == 0 {
			return nil
		}
		if o := unknown(m.DataOptions); o != nil {
			return n.refuse(l, m, broadcast, Outcome{Marker: o.Type | mustKnow, Code: codeNotUnderstood})
		}
		n.config.Handler(*m.Origin, m.Payload, broadcast)
	case HeartbeatRequest:
		return l.conn.Write(Message{Function: HeartbeatAck, ID: m.ID}.Append(nil))
	case DisconnectRequest:
		_ = l.conn.Write(Message{Function: DisconnectAck, ID: m.ID}.Append(nil))
		return ErrNotConnected
	case AdvertisementSolicitation:
		s := Status{Hub: 1, MaxBVLC: MaxMessage, MaxNPDU: MaxNPDU}
		if l.hub != n.config.Primary {
			s.Hub = 2
		}
		return l.conn.Write(Message{Function: Advertisement, ID: m.ID, Destination: m.Origin, Payload: s.Append(nil)}.Append(nil))
	case AddressResolution: // no direct connections are accepted (AB.2.7)
		return n.refuse(l, m, broadcast, Outcome{Code: codeInconsistent, Details: "direct connections are not accepted"})
	case Result, AddressResolutionAck, Advertisement, HeartbeatAck, DisconnectAck, ConnectAccept, ConnectRequest:
	default:
		return n.refuse(l, m, broadcast, Outcome{Code: codeUnknownFunction})
	}
	return nil
}

// refuse answers a message that is for this node alone; results are never sent to all (AB.3.1).
func (n *Node) refuse(l *link, m Message, broadcast bool, o Outcome) error {
	if broadcast {
		return nil
	}
	o.Function, o.Refused, o.Class = m.Function, true, classCommunication
	return l.conn.Write(Message{Function: Result, ID: m.ID, Destination: m.Origin, Payload: o.Append(nil)}.Append(nil))
}
