package alarm

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/sc"
	"voltbus/protocol/bacnet/service"
)

// Process identifies the node among the recipients at its address.
const Process = 1

// ErrRouted says that a device cannot be told where the node is.
var ErrRouted = errors.New("the device is behind a router, where the node's own address is not known: enter the node into the recipient lists of its notification classes with the device's own tool")

// Enrol enters the node into the recipient list of each notification class of a device where it is missing (clauses 12.21 and 14.1): by
// its address, for all days and transitions, confirmed. It returns how many lists it has extended.
func Enrol(ctx context.Context, remote client.Remote) (extended int, err error) {
	if remote.Address.Remote.Net != 0 {
		return 0, ErrRouted
	}
	own, err := ownAddress(remote)
	if err != nil {
		return 0, err
	}
	objects, err := remote.ReadArray(ctx, client.Property{Object: remote.ID(), Property: enum.PropertyObjectList})
	if err != nil {
		return 0, err
	}
	for _, v := range objects {
		id := v.ObjectID()
		if v.Kind() != encoding.KindObjectID || id.Type != enum.NotificationClass {
			continue
		}
		added, err := enter(ctx, remote, id, own)
		if err != nil {
			return extended, err
		}
		if added {
			extended++
		}
	}
	return extended, nil
}

// enter extends one recipient list unless the node is in it.
func enter(ctx context.Context, remote client.Remote, class encoding.ObjectID, own constructed.Address) (added bool, err error) {
	p := client.Property{Object: class, Property: enum.PropertyRecipientList}
	data, err := remote.ReadProperty(ctx, p)
	if err != nil {
		return false, err
	}
	list, err := constructed.List(data, constructed.ReadDestination)
	if err != nil {
		return false, err
	}
	for _, d := range list {
		if d.Recipient.ByAddress && d.Recipient.Address == own && d.Process == Process {
			return false, nil
		}
	}
	all := encoding.Bits(true, true, true)
	element := constructed.Destination{
		Days: encoding.Bits(true, true, true, true, true, true, true), To: encoding.Time{Hour: 23, Minute: 59, Second: 59, Hundredths: 99},
		Recipient: constructed.Recipient{Address: own, ByAddress: true}, Process: Process, Confirmed: true, Transitions: all,
	}
	request := service.ReadPropertyAck{ReadPropertyRequest: p, Value: constructed.Encode(element)}
	_, err = remote.Do(ctx, service.AddListElement, request.Append(nil))
	return err == nil, err
}

// ownAddress is the address of the node as a device of its network knows it (annex J.1.2).
func ownAddress(remote client.Remote) (constructed.Address, error) {
	at := remote.Client().Port().Address()
	if v, secure := sc.VMACOf(at); secure {
		return constructed.Address{MAC: string(v[:])}, nil
	}
	if at.Addr().IsUnspecified() {
		way, err := net.Dial("udp4", remote.Address.Link.String()) //nolint:noctx // nothing is sent: it asks which card is used
		if err != nil {
			return constructed.Address{}, err
		}
		defer way.Close()
		local, err := netip.ParseAddrPort(way.LocalAddr().String())
		if err != nil {
			return constructed.Address{}, err
		}
		at = netip.AddrPortFrom(local.Addr(), at.Port())
	}
	octets := at.Addr().Unmap().As4()
	return constructed.Address{MAC: string(append(octets[:], byte(at.Port()>>8), byte(at.Port())))}, nil
}
