package survey

import (
	"context"
	"errors"
	"fmt"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// ErrOther says that another device than the one that is meant is at an address.
var ErrOther = errors.New("another device is at this address")

// Meet asks a device at a known address who it is and what it takes. want is the instance that it should have; nil for
// any.
func Meet(ctx context.Context, remote client.Remote, want *int) (client.Remote, error) {
	self := encoding.ObjectID{Type: enum.Device, Instance: encoding.MaxInstance + 1} // any device (clause 15.5.2)
	remote.MaxAPDU = 206                                                             // until the device says how much it takes
	value, err := one(ctx, remote, self, enum.PropertyObjectIdentifier)
	if Declined(err) && want != nil { // the wildcard came with revision 4
		self.Instance = uint32(*want)
		value, err = one(ctx, remote, self, enum.PropertyObjectIdentifier)
	}
	if Declined(err) && want == nil {
		return announced(ctx, remote)
	}
	if err != nil {
		return remote, err
	}
	remote.Instance = value.ObjectID().Instance
	if want != nil && uint32(*want) != remote.Instance {
		return remote, fmt.Errorf("%w: it is device %d; correct device or address", ErrOther, remote.Instance)
	}
	self.Instance = remote.Instance
	if value, err = one(ctx, remote, self, enum.PropertyMaxAPDULengthAccepted); err == nil {
		remote.MaxAPDU = int(min(max(value.Uint(), 50), 1476))
	} else if !Declined(err) {
		return remote, err
	}
	remote.Segmentation = service.NoSegmentation
	if value, err = one(ctx, remote, self, enum.PropertySegmentationSupported); err == nil {
		remote.Segmentation = service.Segmentation(min(value.Uint(), uint64(service.NoSegmentation)))
	} else if !Declined(err) {
		return remote, err
	}
	return remote, nil
}

// one reads a property that is a single value.
func one(ctx context.Context, d client.Remote, object encoding.ObjectID, p enum.Property) (encoding.Value, error) {
	results, err := d.Read(ctx, []client.Property{{Object: object, Property: p}})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return encoding.Value{}, err
	}
	return results[0].Value.One()
}

// announced asks a station that does not know the wildcard to announce itself.
func announced(ctx context.Context, remote client.Remote) (client.Remote, error) {
	ask, cancel := context.WithCancel(ctx)
	defer cancel()
	found, err := remote.Client().Discover(ask, client.Scan{At: remote.Address, Wait: remote.Timeout, Found: func(client.Device) { cancel() }})
	switch {
	case len(found) > 0:
		d := found[0]
		d.Timeout, d.Retries = remote.Timeout, remote.Retries
		return remote.Client().At(d), nil
	case err != nil:
		return remote, err
	}
	return remote, transaction.ErrTimeout
}
