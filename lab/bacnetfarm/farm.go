package bacnetfarm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
)

// farm is the devices.
type farm struct {
	controllers []*controller
	devices     []*server.Device
	points      [][]*server.Point // of each device
	addresses   []netip.AddrPort
	began       time.Time
	changes     atomic.Int64
}

// openFarm opens devices, each with an address of its own on the loopback interface.
func openFarm(ctx context.Context, o *Options) (*farm, error) {
	f := &farm{began: time.Now()}
	for range o.Controllers {
		f.controllers = append(f.controllers, &controller{})
	}
	for i := range o.Devices {
		if err := f.add(ctx, i, o); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	return f, nil
}

func (f *farm) add(ctx context.Context, i int, o *Options) error {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 60, byte(i / 250), byte(i%250 + 1)}), 0)
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return fmt.Errorf("open device %d: %w; the experiment needs all of 127.0.0.0/8 on the loopback interface, as Linux has it", i, err)
	}
	l := &link{conn: conn, controller: f.controllers[i%len(f.controllers)]}
	d, err := server.Open(ctx, server.Config{
		Instance: uint32(i + 1), Name: fmt.Sprintf("device %d", i+1), MaxSubscriptions: o.Points + 1, Client: client.Config{IP: ip.Config{Carrier: l}},
	})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	f.devices = append(f.devices, d)
	f.addresses = append(f.addresses, l.Address())
	points := make([]*server.Point, o.Points)
	for n := range points {
		points[n] = server.NewPoint(server.PointConfig{
			ID: encoding.ObjectID{Instance: uint32(n + 1)}, Name: fmt.Sprintf("input %d", n+1), Units: enum.UnitDegreesCelsius, Value: encoding.Real(0),
		})
		if err := d.Add(points[n]); err != nil {
			return err
		}
	}
	f.points = append(f.points, points)
	return nil
}

// change changes so many points a second until ctx ends. A value is the time of its change, in seconds since the farm began.
func (f *farm) change(ctx context.Context, perSecond float64, seed uint64) {
	if perSecond <= 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // which points change is no secret
	const tick = 20 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	due := 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for due += perSecond * tick.Seconds(); due >= 1; due-- {
			points := f.points[random.IntN(len(f.points))]
			points[random.IntN(len(points))].Set(encoding.Real(float32(time.Since(f.began).Seconds())), constructed.StatusFlags{})
			f.changes.Add(1)
		}
	}
}

// subscriptions returns how many there are.
func (f *farm) subscriptions() (n int) {
	for _, d := range f.devices {
		n += d.Counts().Subscriptions
	}
	return n
}

// limit sets the limit of each controller and begins to count anew.
func (f *farm) limit(rate, queue int) {
	now := time.Now()
	for _, c := range f.controllers {
		c.limit(float64(rate), float64(queue), now)
	}
	f.changes.Store(0)
}

// load adds up what the controllers had to do; Peak is that of the busiest.
func (f *farm) load() (all Load) {
	for _, c := range f.controllers {
		l := c.load()
		all.Received += l.Received
		all.Dropped += l.Dropped
		all.Sent += l.Sent
		all.Peak = max(all.Peak, l.Peak)
	}
	return all
}

func (f *farm) close() error {
	var problems []error
	for _, d := range f.devices {
		problems = append(problems, d.Close())
	}
	return errors.Join(problems...)
}
