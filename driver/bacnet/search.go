package bacnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
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
