package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/lab/campus"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// firstDevice is where the campus begins: addresses of the loopback interface that nothing else is likely to have.
func firstDevice() netip.Addr { return netip.AddrFrom4([4]byte{127, 47, 0, 1}) }

// ownAddress is the node's address there.
func ownAddress() netip.Addr { return netip.AddrFrom4([4]byte{127, 47, 0, 250}) }

// broadcast is the broadcast address of the loopback interface.
func broadcast() netip.Addr { return netip.AddrFrom4([4]byte{127, 255, 255, 255}) }

// campusSpeed is how many seconds pass there in one of ours: a day takes 24 minutes.
const campusSpeed = 60

// ServeCampus plays the campus in this process, as ServeBoiler does the boiler. Its port is that of BACnet, or any other if that is in use.
func ServeCampus(ctx context.Context, input io.Reader, out io.Writer) error {
	ctx, cancel := while(ctx, input)
	defer cancel()
	begins := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC) // a workday in summer
	first, err := freePort(ctx)
	if err != nil {
		return err
	}
	c, err := campus.Open(ctx, campus.Config{First: first, Broadcast: broadcast(), Begin: begins, Speed: campusSpeed})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, ready+first.String())
	return errors.Join(c.Run(ctx), c.Close())
}

// freePort returns the address of the first device.
func freePort(ctx context.Context) (netip.AddrPort, error) {
	var problem error
	for _, port := range []uint16{network.DefaultPort, 0} {
		l, err := new(net.ListenConfig).ListenPacket(ctx, "udp4", netip.AddrPortFrom(firstDevice(), port).String())
		if err != nil {
			problem = err
			continue
		}
		if at, ok := l.LocalAddr().(*net.UDPAddr); ok {
			port = at.AddrPort().Port()
		}
		return netip.AddrPortFrom(firstDevice(), port), l.Close()
	}
	return netip.AddrPort{}, fault.E("demo", fault.Unreachable, firstDevice().String(), fmt.Errorf(
		"%w; the campus needs a system that has all of 127.0.0.0/8 on its loopback interface, as Linux does", problem))
}

// Campus is what was found on the campus.
type Campus struct {
	Found []survey.Found
	Local string // the node's own address there
}

// Find looks for the devices of the campus that listens at an address, as a scan of a network does.
func Find(ctx context.Context, address string) (*Campus, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("find the campus: %w", err)
	}
	c, err := client.Open(ctx, client.Config{IP: ip.Config{Listen: netip.AddrPortFrom(ownAddress(), at.Port()), Broadcast: broadcast()}})
	if err != nil {
		return nil, fmt.Errorf("find the campus: %w", err)
	}
	all := service.Devices(0, 5999)
	found, err := survey.Scan(ctx, c, client.Scan{Devices: all, Wait: time.Second}, true, nil)
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, fmt.Errorf("find the campus: %w", err)
	}
	return &Campus{Found: found, Local: fmt.Sprintf("%v/8:%d", ownAddress(), at.Port())}, nil
}

// devices formats the devices for the configuration.
func (c *Campus) devices() []byte {
	text := []byte("\n  # The campus: devices that a scan of BACnet has found, each with its points in a CSV file.\n")
	return append(text, survey.Configuration{Path: "campus", Local: c.Local, Interval: 10 * time.Second}.Devices(c.Found)...)
}
