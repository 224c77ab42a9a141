package bacnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/survey"
	"voltbus/driver/registry"
	"voltbus/fault"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/npdu"
)

// search asks all devices of the network who they are.
func search(ctx context.Context, cfg driver.Config) (list []driver.Neighbour, err error) {
	const op = "bacnet.Search"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	where := cmp.Or(c.SC.Hub, c.Local)
	settings, err := c.settings()
	if err != nil {
		return nil, fault.E(op, fault.Invalid, where, err)
	}
	socket, err := sockets.Enter(ctx, settings)
	if err != nil {
		return nil, fault.E(op, fault.Unreachable, where, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	defer socket.Leave()
	if err := awaitHub(ctx, socket); err != nil {
		return nil, fault.E(op, fault.Unreachable, where, err)
	}
	found, err := survey.Scan(ctx, socket.Client, client.Scan{Network: npdu.Global, Wait: min(c.Timeout, 3*time.Second)}, false, nil)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.E(op, fault.Unreachable, where, err)
	}
	for i := range found {
		list = append(list, neighbour(&found[i]))
	}
	return list, nil
}

// hubTime is how long a hub may take to accept the node before a search gives up.
const hubTime = 10 * time.Second

// awaitHub waits until a BACnet/SC hub, if the network has one, takes broadcasts.
func awaitHub(ctx context.Context, socket *network.Socket) error {
	if socket.Problem() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	return socket.Await(ctx)
}

// neighbour describes a device that was found.
func neighbour(f *survey.Found) driver.Neighbour {
	at := network.AddressText(f.Address)
	n := driver.Neighbour{
		Name:   registry.Readable(f.About.Name),
		Detail: strings.Join(strings.Fields(fmt.Sprintf("device %d at %s %s %s", f.Instance, at, f.About.Vendor, f.About.Model)), " "),
		Config: map[string]any{"device": f.Instance},
		Facts:  map[string]string{"instance": strconv.Itoa(int(f.Instance)), "address": at, "vendor": f.About.Vendor, "model": f.About.Model},
	}
	if f.Objects > 0 {
		n.Facts["objects"] = strconv.Itoa(f.Objects)
	}
	switch {
	case f.Err != nil:
		n.Note = "It announces itself, and cannot be read: " + survey.Explain(f.Err).Error()
	case f.Twin:
		n.Note = "Another device has the same instance: give one of them another."
		n.Config["address"] = at
	}
	return n
}

// covers reports whether a configured device is in the network that a search asks. A BBMD makes one network of several subnets.
func covers(cfg, device driver.Config) bool {
	c, _ := cfg.(*Config)
	d, ok := device.(*Config)
	if c == nil || !ok || c.SC.Hub != d.SC.Hub {
		return false
	}
	return c.Local == "" || d.Local == "" || c.Local == d.Local
}

// isThat reports whether a configured device is one that was found: by its instance, and by its address if two have the instance or it has no other.
func isThat(device driver.Config, n *driver.Neighbour) bool {
	d, ok := device.(*Config)
	if !ok {
		return false
	}
	_, twin := n.Config["address"]
	switch {
	case d.Device == nil || twin && d.Address != "":
		return d.Address != "" && sameStation(d.Address, n.Facts["address"])
	}
	return n.Config["device"] == uint32(*d.Device)
}

// sameStation compares addresses, of which one may have a port or a router that the other leaves out.
func sameStation(configured, found string) bool {
	a, errA := network.ParseStation(configured)
	b, errB := network.ParseStation(found)
	isNear := a.Link == b.Link || a.Remote.Net != 0 && (!a.Link.IsValid() || !b.Link.IsValid())
	return errA == nil && errB == nil && a.Remote == b.Remote && isNear
}

// compare compares the objects of a device with those of its configuration, whatever its points are called there.
func compare(device driver.Config, has []driver.Found) (added, gone []string) {
	d, ok := device.(*Config)
	if !ok {
		return nil, nil
	}
	d.compile()
	objects := make(map[string]bool, len(has))
	for i := range has {
		object := has[i].Entry["object"]
		objects[object] = true
		if !slices.ContainsFunc(d.items, func(t pointlist.Item) bool { return t.Object.String() == object }) {
			added = append(added, has[i].Entry["name"])
		}
	}
	for i := range d.items {
		if t := &d.items[i]; t.IsPresentValue() && !objects[t.Object.String()] {
			gone = append(gone, t.Name)
		}
	}
	return added, gone
}
