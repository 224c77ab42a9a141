package survey

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/enum"
)

// Found is a device of the network.
type Found struct {
	client.Device

	About   Device
	Objects int     // that it has; 0 if it does not say
	Points  []Point // if they were asked for
	Twin    bool    // another device has the same instance
	Err     error   // why it could not be asked
}

// Scan looks for devices and asks each of them what it is, and for its points if that is wanted: a few devices at once,
// each for one thing after the other. Told is called as soon as a device was asked, by several goroutines; nil if
// nobody wants to know. The devices come back in the order of their instances and addresses, with what was found until ctx
// ended, whose error comes then.
func Scan(ctx context.Context, c *client.Client, s client.Scan, points bool, told func(Found)) ([]Found, error) {
	devices, err := c.Discover(ctx, s)
	found := make([]Found, len(devices))
	instances := make(map[uint32]int, len(devices))
	for i, d := range devices {
		found[i].Device = d
		instances[d.Instance]++
	}
	const atOnce = 16
	var asking sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range found {
		f := &found[i]
		f.Twin = instances[f.Instance] > 1
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			f.ask(ctx, c, points)
			if told != nil {
				told(*f)
			}
		})
	}
	asking.Wait()
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Address.String(), b.Address.String()))
	})
	return found, err
}

// ask asks a device.
func (f *Found) ask(ctx context.Context, c *client.Client, points bool) {
	remote := c.At(f.Device)
	if f.About, f.Err = Describe(ctx, remote); f.Err != nil {
		return
	}
	length, err := remote.ReadProperty(ctx, client.Property{Object: f.ID(), Property: enum.PropertyObjectList, Index: constructed.At(0)})
	if v, failed := length.One(); err == nil && failed == nil {
		f.Objects = int(v.Uint())
	}
	if points {
		f.Points, f.Err = Points(ctx, remote, f.About.Name)
	}
}
