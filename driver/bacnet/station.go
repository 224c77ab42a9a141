package bacnet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/survey"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
)

// station is the device of a session: where it was found, and what it takes.
type station struct {
	config *Config
	at     network.Station
	socket *network.Socket
	remote client.Remote
	bound  bool   // remote is the device
	losses uint64 // of the connection to the hub, when the device was last asked

	clock   ip.Address // whose clock is kept
	unclock func()     // ends that
}

// How the clock of a device is set.
const (
	syncOff   = "off"
	syncUTC   = "utc"
	syncLocal = "local"
)

// keepClock has the clock of the device set, if that is wanted.
func (s *station) keepClock(at ip.Address) {
	if s.config.TimeSync == syncOff || s.unclock != nil && s.clock == at {
		return
	}
	s.end()
	s.clock = at
	s.unclock = s.socket.Clocks.Keep(at, network.Sync{Local: s.config.TimeSync == syncLocal, Zone: time.Local, Every: s.config.TimeSyncInterval}) //nolint:gosmopolitan // that of this machine is said to be meant
}

// end ends what is done for the device.
func (s *station) end() {
	if s.unclock != nil {
		s.unclock()
		s.unclock = nil
	}
}

// Why a device cannot be asked.
var (
	errNobody    = errors.New("no device has announced this instance; check the number, that the device is on, and that broadcasts reach it (local, or bbmd for another subnet)")
	errBBMD      = errors.New("the BBMD does not take this node as a foreign device, so that devices cannot be looked for; check its address and settings")
	errDuplicate = errors.New("more than one device has this instance")
)

// reach returns the device, which is looked for if it is not known.
func (s *station) reach(ctx context.Context) (client.Remote, error) {
	s.losses = s.socket.Losses()
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
		if remote, err = survey.Meet(ctx, remote, s.config.Device); err != nil {
			return client.Remote{}, err
		}
	}
	if n := s.config.MaxAPDU; n > 0 && (remote.MaxAPDU == 0 || n < remote.MaxAPDU) {
		remote.MaxAPDU = n
	}
	s.remote, s.bound = remote, true
	s.keepClock(remote.Address)
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
	case len(found) == 0 && s.hubProblem() != nil && !errors.Is(err, context.Canceled):
		return client.Device{}, s.hubProblem()
	case err != nil:
		return client.Device{}, err
	case len(found) == 0 && s.config.BBMD != "" && !s.socket.Client.Port().Registered():
		return client.Device{}, fmt.Errorf("%w: %s", errBBMD, s.config.BBMD)
	case len(found) == 0:
		s.socket.Doubt()
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

// errLost says that what was under way was lost with the connection to the hub.
var errLost = fmt.Errorf("%w: the connection was lost meanwhile", network.ErrHub)

// hubProblem says that the hub is the reason why the device did not answer; nil if it is not.
func (s *station) hubProblem() error {
	switch problem := s.socket.Problem(); {
	case problem != nil:
		return problem
	case s.socket.Losses() != s.losses:
		return errLost
	}
	return nil
}

// declined reports whether a device answered a request with no.
func declined(err error) bool { return survey.Declined(err) }
