package station

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/transport"
)

// Reasons why a port configuration is refused.
var (
	errAddress   = errors.New("needs link addresses from 0 to 65519, for itself and its peer, that differ")
	errKeepAlive = errors.New("needs a keep-alive interval and answer time of zero or more")
)

// Config describes the link layer of one association.
type Config struct {
	// Local and Remote are the link addresses of this station and its peer.
	Local, Remote link.Address
	// Master says which end this is; it sets the DIR bit of every frame.
	Master bool
	// AnyRemote makes an outstation answer whoever speaks to its address, for sites
	// where the master's address is unknown. Remote is then where it reports unasked.
	AnyRemote bool
	// SelfAddress makes an outstation also answer the self-address 0xFFFC.
	SelfAddress bool
	// KeepAlive is how long the peer may be silent before its link status is asked
	// for, 0 for never. Over TCP this is how a half-open connection is found.
	KeepAlive time.Duration
	// KeepAliveAnswer is how long the peer then has to answer; 0 means 5 s.
	KeepAliveAnswer time.Duration
}

const keepAliveAnswer = 5 * time.Second

// Validate reports what is wrong with the configuration, nil if nothing is.
func (c Config) Validate() error {
	switch {
	case !c.Local.Individual() || !c.Remote.Individual() || c.Local == c.Remote:
		return fmt.Errorf("port %v to %v: %w", c.Local, c.Remote, errAddress)
	case c.KeepAlive < 0 || c.KeepAliveAnswer < 0:
		return fmt.Errorf("port %v to %v: %w", c.Local, c.Remote, errKeepAlive)
	}
	return nil
}

// Port is a machine behind its link and transport layers. It answers the link requests
// of its peer by itself. Not for concurrent use.
type Port struct {
	machine   Machine
	local     link.Address
	remote    link.Address
	sequence  transport.Sequence
	flags     portFlags
	joiner    transport.Reassembler
	lent      *Buffer
	interval  time.Duration // keep-alive
	answer    time.Duration
	heard     time.Time
	statusDue time.Time // until when a link status must arrive
}

type portFlags struct {
	master, anyRemote, self bool
	open, dead              bool
	reset, fcb              bool // secondary station: link reset, next frame count bit
}

// NewPort returns a closed port for a machine.
func NewPort(c Config, m Machine) (*Port, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &Port{machine: m, local: c.Local, remote: c.Remote, interval: c.KeepAlive, answer: c.KeepAliveAnswer}
	if p.answer == 0 {
		p.answer = keepAliveAnswer
	}
	p.flags.master, p.flags.anyRemote, p.flags.self = c.Master, c.AnyRemote, c.SelfAddress
	return p, nil
}

// Machine returns the machine behind the port.
func (p *Port) Machine() Machine { return p.machine }

// Local returns the link address of this station.
func (p *Port) Local() link.Address { return p.local }

// Remote returns the link address of the peer.
func (p *Port) Remote() link.Address { return p.remote }

// Opened reports whether the port is open.
func (p *Port) Opened() bool { return p.flags.open }

// Dead reports whether the peer left a request for its link status unanswered and has
// not received since.
func (p *Port) Dead() bool { return p.flags.dead }

// Open notifies the machine that the line is open.
func (p *Port) Open(now time.Time, out *Output) {
	p.flags.open, p.flags.dead, p.flags.reset = true, false, false
	p.heard, p.statusDue = now, time.Time{}
	out.port = p
	p.machine.Open(now, out)
}

// Close notifies the machine that the line is closed and gives borrowed memory back.
func (p *Port) Close(now time.Time, pool *Pool) {
	if !p.flags.open {
		return
	}
	p.flags.open = false
	p.giveBack(pool)
	p.machine.Close(now)
}

// Deadline returns when Tick has to be called, the zero time for never.
func (p *Port) Deadline() time.Time {
	if !p.flags.open {
		return time.Time{}
	}
	due := p.statusDue
	if due.IsZero() && p.interval > 0 && !p.flags.dead {
		due = p.heard.Add(p.interval)
	}
	return Earlier(due, p.machine.Deadline())
}

// Tick does what has become due.
func (p *Port) Tick(now time.Time, out *Output) {
	if !p.flags.open {
		return
	}
	out.port = p
	p.keepAlive(now, out)
	p.machine.Tick(now, out)
}

func (p *Port) keepAlive(now time.Time, out *Output) {
	switch {
	case Due(p.statusDue, now):
		p.flags.dead, p.statusDue = true, time.Time{}
	case p.interval > 0 && p.statusDue.IsZero() && !p.flags.dead && Due(p.heard.Add(p.interval), now):
		p.statusDue = now.Add(p.answer)
		out.frame(p.control(link.RequestLinkStatus), p.remote, p.local)
	}
}

func (p *Port) control(f link.Function) link.Control {
	if p.flags.master {
		return f.With(link.DIR)
	}
	return f.With(0)
}

// Accepts reports whether a frame with this header is for the port.
func (p *Port) Accepts(h link.Header) bool {
	switch {
	case h.Control.FromMaster() == p.flags.master:
		return false
	case h.Source != p.remote && (!p.flags.anyRemote || !h.Source.Individual()):
		return false
	case h.Destination.Broadcast():
		return !p.flags.master
	case h.Destination == link.SelfAddress:
		return p.flags.self
	}
	return h.Destination == p.local
}

// receive handles a frame that the port accepts.
func (p *Port) receive(now time.Time, f link.Frame, out *Output) {
	p.heard, p.statusDue, p.flags.dead = now, time.Time{}, false
	if p.flags.anyRemote {
		p.remote = f.Source
	}
	out.port = p
	switch function := f.Control.Function(); {
	case f.Check() != nil: // dropped in silence, as the certification procedures want it (6.6.2)
	case function == link.UnconfirmedUserData, f.Destination.Broadcast() && function.UserData():
		p.segment(now, f, out) // a broadcast is never acknowledged, even if it asks for that
	case !function.Primary():
	case f.Destination.Broadcast():
	case function == link.ConfirmedUserData:
		p.confirmed(now, f, out)
	default:
		p.secondary(f, out)
	}
}

// confirmed handles a frame that asks for an acknowledgement; a repeated one is
// acknowledged again and dropped.
func (p *Port) confirmed(now time.Time, f link.Frame, out *Output) {
	if !p.flags.reset {
		out.frame(p.control(link.Nack), p.remote, p.local)
		return
	}
	out.frame(p.control(link.Ack), p.remote, p.local)
	if f.Control.FCB() == p.flags.fcb {
		p.flags.fcb = !p.flags.fcb
		p.segment(now, f, out)
	}
}

// secondary answers frames of the link layer itself.
func (p *Port) secondary(f link.Frame, out *Output) {
	answer := link.NotSupported
	switch f.Control.Function() {
	case link.ResetLinkStates:
		p.flags.reset, p.flags.fcb = true, true
		answer = link.Ack
	case link.TestLinkStates:
		answer = link.Nack
		if p.flags.reset {
			answer = link.Ack
			if f.Control.FCB() == p.flags.fcb {
				p.flags.fcb = !p.flags.fcb
			}
		}
	case link.RequestLinkStatus:
		answer = link.LinkStatus
	default:
	}
	out.frame(p.control(answer), f.Source, p.local)
}

// segment joins user octets to fragments. Memory is borrowed only while a fragment of
// several segments is open.
func (p *Port) segment(now time.Time, f link.Frame, out *Output) {
	if len(f.Payload) == 0 {
		return
	}
	if h := transport.Header(f.Payload[0]); h.First() && !h.Final() && p.lent == nil {
		p.lent = out.pool.Borrow()
		p.joiner.Lend(p.lent.Octets)
	}
	fragment, complete := p.joiner.Add(f.Payload)
	if complete {
		m := Message{Octets: fragment, Source: f.Source}
		if f.Destination.Broadcast() {
			m.Broadcast = f.Destination
		}
		p.machine.Receive(now, m, out)
	}
	if !p.joiner.Open() {
		p.giveBack(out.pool)
	}
}

func (p *Port) giveBack(pool *Pool) {
	if p.lent == nil {
		return
	}
	p.joiner.TakeBack()
	pool.Return(p.lent)
	p.lent = nil
}
