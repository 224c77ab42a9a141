package campus

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
)

// Size of a campus: each building has a device for its air handlers and one for each floor, all with as many objects.
const (
	buildings       = 5
	Devices         = buildings * (1 + floors)
	ObjectsOfDevice = 100
)

// Config says where a campus is, and how fast its time goes.
type Config struct {
	// First is the address of the first device; the others follow it.
	First netip.AddrPort
	// Broadcast is where devices hear who is asked for; an invalid one: they hear nothing.
	Broadcast netip.Addr
	// Begin is the time of the campus at first.
	Begin time.Time
	// Speed is how many seconds pass there in one of ours.
	Speed float64
}

// Campus is the devices and what happens in their buildings.
type Campus struct {
	config    Config
	buildings [buildings]*building
	devices   []*server.Device
	now       time.Time
}

// instanceOf numbers the device of a building: 0 is that of the air handlers, then come the floors.
func instanceOf(building, device int) uint32 { return uint32(1000*(building+1) + device) }

// Open opens the devices. Close ends them.
func Open(ctx context.Context, c Config) (*Campus, error) {
	p := &Campus{config: c, now: c.Begin}
	at := c.First.Addr()
	for n := range p.buildings {
		b := newBuilding(n + 1)
		p.buildings[n] = b
		boards := []*board{&b.board.board}
		names := []string{fmt.Sprintf("Building %d Air Handlers", n+1)}
		for f := range b.floors {
			boards, names = append(boards, &b.floors[f].board), append(names, fmt.Sprintf("Building %d Floor %d", n+1, f+1))
		}
		for i, objects := range boards {
			d, err := open(ctx, c, netip.AddrPortFrom(at, c.First.Port()), server.Config{
				Instance: instanceOf(n, i), Name: names[i], Location: fmt.Sprintf("Building %d", n+1), Model: "virtual campus",
			}, objects)
			if err != nil {
				return nil, errors.Join(err, p.Close())
			}
			p.devices = append(p.devices, d)
			at = at.Next()
		}
	}
	p.Step(time.Minute)
	return p, nil
}

// open opens a device with its objects.
func open(ctx context.Context, c Config, at netip.AddrPort, s server.Config, b *board) (*server.Device, error) {
	s.Client = client.Config{IP: ip.Config{Listen: at, Broadcast: c.Broadcast}}
	d, err := server.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, o := range b.signals {
		if err := d.Add(o.point); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// Step lets time pass on the campus.
func (p *Campus) Step(d time.Duration) {
	p.now = p.now.Add(d)
	for _, b := range p.buildings {
		b.step(p.now, d)
	}
}

// Run lets the time pass until ctx ends.
func (p *Campus) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			p.Step(time.Duration(p.config.Speed * float64(time.Second)))
		}
	}
}

// Close ends the devices.
func (p *Campus) Close() error {
	var problems []error
	for _, d := range p.devices {
		problems = append(problems, d.Close())
	}
	return errors.Join(problems...)
}
