package bacnetfarm

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"voltbus/protocol/bacnet/bvlc"
	"voltbus/protocol/bacnet/ip"
)

// link is the socket of a device behind a controller. It is an ip.Carrier.
type link struct {
	conn       *net.UDPConn
	controller *controller
	running    sync.WaitGroup
}

// Open receives what the controller does not drop.
func (l *link) Open(receive func(from netip.AddrPort, npdu []byte, broadcast bool)) error {
	l.running.Go(func() {
		datagram := make([]byte, bvlc.MaxDatagram)
		for {
			n, from, err := l.conn.ReadFromUDPAddrPort(datagram)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil || !l.controller.take(time.Now()) {
				continue
			}
			if m, err := bvlc.Parse(datagram[:n]); err == nil && m.NPDU != nil {
				receive(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), m.NPDU, false)
			}
		}
	})
	return nil
}

// Send sends an NPDU.
func (l *link) Send(to netip.AddrPort, npdu []byte) error {
	l.controller.sent()
	if _, err := l.conn.WriteToUDPAddrPort(bvlc.AppendNPDU(nil, bvlc.OriginalUnicast, npdu), to); err != nil {
		return fmt.Errorf("send to %v: %w", to, err)
	}
	return nil
}

// Address returns where the device is.
func (l *link) Address() netip.AddrPort {
	if a, ok := l.conn.LocalAddr().(*net.UDPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// Broadcast does nothing: nobody looks for these devices.
func (l *link) Broadcast([]byte) error { return ip.ErrNoBroadcast }

// Close ends the socket.
func (l *link) Close() error {
	err := l.conn.Close()
	l.running.Wait()
	return err
}
