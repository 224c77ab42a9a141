package bacnet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/driver/bacnet/network"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// station is the device of a session: where it was found, and what it takes.
type station struct {
	config *Config
	at     network.Station
	socket *network.Socket
	remote client.Remote
	bound  bool // remote is the device
}

// Why a device cannot be asked.
var (
	errNobody    = errors.New("no device has announced this instance; check the number, that the device is on, and that broadcasts reach it (local, or bbmd for another subnet)")
	errDuplicate = errors.New("more than one device has this instance")
	errOther     = errors.New("another device is at this address")
)

// reach returns the device, which is looked for if it is not known.
func (s *station) reach(ctx context.Context) (client.Remote, error) {
	if s.bound {
		return s.remote, nil
	}
	device := client.Device{Address: s.at.Address(), Timeout: s.config.Timeout, Retries: s.retries()}
	if !s.at.Known() {
		found, err := s.find(ctx)
		if err != nil {
			return client.Remote{}, err
		}
		device.Address, device.Instance = found.Address, found.Instance
		device.MaxAPDU, device.Segmentation, device.Vendor = found.MaxAPDU, found.Segmentation, found.Vendor
	}
	pace := client.Pace{InFlight: s.config.MaxInFlight, Batch: s.config.MaxPerRequest}
	if s.config.RequestsPerSecond > 0 {
		pace.Interval = time.Duration(float64(time.Second) / s.config.RequestsPerSecond)
	}
	s.socket.Client.SetPace(device.Address, pace)
	remote := s.socket.Client.At(device)
	if s.at.Known() {
		var err error
		if remote, err = s.meet(ctx, remote); err != nil {
			return client.Remote{}, err
		}
	}
	if n := s.config.MaxAPDU; n > 0 && (remote.MaxAPDU == 0 || n < remote.MaxAPDU) {
		remote.MaxAPDU = n
	}
	s.remote, s.bound = remote, true
	return remote, nil
}

// retries is how often the socket repeats a request: 0 there means its own default.
func (s *station) retries() int {
	if s.config.Retries == 0 {
		return -1
	}
	return s.config.Retries
}

// lose has the device looked for again: it did not answer, and may be somewhere else now.
func (s *station) lose() { s.bound = false }

// find looks for the device by its instance.
func (s *station) find(ctx context.Context) (client.Device, error) {
	found, err := s.socket.Directory.Find(ctx, uint32(*s.config.Device), s.at, s.config.Timeout)
	switch {
	case err != nil:
		return client.Device{}, err
	case len(found) == 0:
		return client.Device{}, errNobody
	case len(found) > 1:
		places := make([]string, len(found))
		for i, device := range found {
			places[i] = network.AddressText(device.Address)
		}
		return client.Device{}, fmt.Errorf("%w: %s; give one of them another instance, or write the address of the one that is meant", errDuplicate, strings.Join(places, " and "))
	}
	return found[0], nil
}

// meet asks a device at a known address who it is and what it takes.
func (s *station) meet(ctx context.Context, remote client.Remote) (client.Remote, error) {
	self := encoding.ObjectID{Type: enum.Device, Instance: encoding.MaxInstance + 1} // any device (clause 15.5.2)
	remote.MaxAPDU = 206                                                             // until the device says how much it takes
	value, err := one(ctx, remote, self, enum.PropertyObjectIdentifier)
	if declined(err) && s.config.Device != nil { // the wildcard came with revision 4
		self.Instance = uint32(*s.config.Device)
		value, err = one(ctx, remote, self, enum.PropertyObjectIdentifier)
	}
	if err != nil {
		return remote, err
	}
	remote.Instance = value.ObjectID().Instance
	if want := s.config.Device; want != nil && uint32(*want) != remote.Instance {
		return remote, fmt.Errorf("%w: it is device %d; correct device or address", errOther, remote.Instance)
	}
	self.Instance = remote.Instance
	if value, err = one(ctx, remote, self, enum.PropertyMaxAPDULengthAccepted); err == nil {
		remote.MaxAPDU = int(min(max(value.Uint(), 50), 1476))
	} else if !declined(err) {
		return remote, err
	}
	remote.Segmentation = service.NoSegmentation
	if value, err = one(ctx, remote, self, enum.PropertySegmentationSupported); err == nil {
		remote.Segmentation = service.Segmentation(min(value.Uint(), uint64(service.NoSegmentation)))
	} else if !declined(err) {
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

// declined reports whether a device answered a request with no.
func declined(err error) bool {
	var no service.Error
	var reject transaction.RejectError
	var abort transaction.AbortError
	return errors.As(err, &no) || errors.As(err, &reject) || errors.As(err, &abort) && !abort.Ours
}
