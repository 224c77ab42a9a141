package client

import (
	"context"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

// maxFound bounds the devices of one scan, as announcements cost their sender nothing.
const maxFound = 65536

// Scan says which devices to look for, and how gently. Devices answer a broadcast all at once:
// steps of instances with pauses between them keep a network and its routers from being flooded.
type Scan struct {
	Devices service.Range // zero: all, in one broadcast
	Step    uint32        // instances asked for at once, when Devices is limited; 0: all
	Pause   time.Duration // between the steps; 200 ms
	Wait    time.Duration // for answers to the last step; 3 s
	Network uint16        // npdu.Global: also behind routers; 0: the local network; or one network
	At      ip.Address    // ask this station alone, without a broadcast; zero: ask all
	Found   func(Device)  // called for each device as it is found; may be nil; must not block
}

// scan is a Discover under way.
type scan struct {
	Scan
	seen  map[seenDevice]struct{}
	found []Device
}

type seenDevice struct {
	instance uint32
	address  string
}

// Discover broadcasts Who-Is and returns the devices that announced themselves, in the order of
// their answers. When ctx ends it returns what was found until then and the error of ctx.
func (c *Client) Discover(ctx context.Context, s Scan) ([]Device, error) {
	if s.Pause <= 0 {
		s.Pause = 200 * time.Millisecond
	}
	if s.Wait <= 0 {
		s.Wait = 3 * time.Second
	}
	running := &scan{Scan: s, seen: map[seenDevice]struct{}{}}
	c.mu.Lock()
	c.scans[running] = struct{}{}
	c.mu.Unlock()
	err := c.scan(ctx, s)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.scans, running)
	return running.found, err
}

// scan sends the steps.
func (c *Client) scan(ctx context.Context, s Scan) error {
	steps := []service.Range{s.Devices}
	if s.Devices.Limited && s.Step > 0 {
		steps = nil
		for low := uint64(s.Devices.Low); low <= uint64(s.Devices.High); low += uint64(s.Step) {
			steps = append(steps, service.Devices(uint32(low), uint32(min(low+uint64(s.Step)-1, uint64(s.Devices.High)))))
		}
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for i, step := range steps {
		if err := c.ask(s, step); err != nil {
			return err
		}
		timer.Reset(s.Pause)
		if i == len(steps)-1 {
			timer.Reset(s.Wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ask sends the Who-Is of a step.
func (c *Client) ask(s Scan, step service.Range) error {
	if s.At.Link.IsValid() {
		return c.At(Device{Address: s.At}).Tell(service.WhoIs, step.Append(nil))
	}
	return c.WhoIs(s.Network, step)
}

// WhoIs broadcasts one Who-Is: in the local network (0), in all networks ([npdu.Global]) or in one
// behind a router. Answers go to scans and to Announced.
func (c *Client) WhoIs(network uint16, devices service.Range) error {
	return c.port.Broadcast(network, unconfirmed(service.WhoIs, devices.Append(nil)))
}

// WhoHas broadcasts one Who-Has. The answers, I-Have, go to Unconfirmed.
func (c *Client) WhoHas(network uint16, q service.ObjectQuery) error {
	return c.port.Broadcast(network, unconfirmed(service.WhoHas, q.Append(nil)))
}

// Tell sends an unconfirmed service to a device, such as TimeSynchronization.
func (d Remote) Tell(s service.Unconfirmed, payload []byte) error {
	return d.client.port.Send(d.Address, unconfirmed(s, payload), false)
}

func unconfirmed(s service.Unconfirmed, payload []byte) []byte {
	return append(apdu.Append(nil, apdu.Header{Type: apdu.UnconfirmedRequest, Service: uint8(s)}), payload...)
}

// announced takes an I-Am.
func (c *Client) announced(d Device) {
	c.mu.Lock()
	var tell []func(Device)
	for s := range c.scans {
		if s.take(d) && s.Found != nil {
			tell = append(tell, s.Found)
		}
	}
	c.mu.Unlock()
	for _, found := range tell {
		found(d)
	}
	if c.config.Announced != nil {
		c.config.Announced(d)
	}
}

// take reports whether the device is a new one that the scan looks for.
func (s *scan) take(d Device) bool {
	key := seenDevice{d.Instance, d.Address.String()}
	_, again := s.seen[key]
	if s.At.Link.IsValid() && d.Address != s.At {
		return false
	}
	other := !s.At.Link.IsValid() && s.Network != npdu.Global && d.Address.Remote.Net != s.Network
	if again || other || !s.Devices.Has(d.Instance) || len(s.found) >= maxFound {
		return false
	}
	s.seen[key] = struct{}{}
	s.found = append(s.found, d)
	return true
}
