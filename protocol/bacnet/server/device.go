package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Config describes a device.
type Config struct {
	Instance    uint32 // 0–4194302, unique in the whole network
	Name        string // unique in the whole network
	Description string
	Location    string
	Vendor      uint16 // vendor identifier that ASHRAE assigned
	Model       string
	Version     string // of the firmware; Voltbus if empty
	// Client has the socket and the limits; Serve is the device's own.
	Client client.Config
	// MaxSubscriptions bounds the subscriptions to changes; 0: 1000.
	MaxSubscriptions int
}

// Counts says how much a device did since it was opened.
type Counts struct {
	Reads         uint64 // requests that were answered at once: of properties and subscriptions
	Writes        uint64 // requests to write
	Refused       uint64 // requests of both kinds that were answered with an error
	Subscriptions int    // now
}

// Device is a device on the network. It may be used by several goroutines.
type Device struct {
	config  Config
	client  *client.Client
	objects *objects
	subs    *subscriptions
	cancel  context.CancelFunc
	waiting sync.WaitGroup // for requests that wait
	places  chan struct{}  // bounds them

	reads, writes, refused atomic.Uint64
	down                   atomic.Bool

	opening sync.RWMutex // client is written while it is held
}

// maxWaiting bounds the requests that are carried out beside the others, such as writes.
const maxWaiting = 64

// Errors of Add.
var (
	ErrInstance  = errors.New("impossible instance of an object: it must be 0 to 4194302")
	ErrDuplicate = errors.New("the device has an object of this identifier or name already")
)

// Open opens the socket of a device. Close ends it.
func Open(ctx context.Context, c Config) (*Device, error) {
	if c.Instance > encoding.MaxInstance {
		return nil, fmt.Errorf("device %d: %w", c.Instance, ErrInstance)
	}
	if c.MaxSubscriptions <= 0 {
		c.MaxSubscriptions = 1000
	}
	if c.Version == "" {
		c.Version = "Voltbus"
	}
	d := &Device{config: c, places: make(chan struct{}, maxWaiting)}
	d.objects, d.subs = newObjects(d.ID()), newSubscriptions(d.ID(), c.MaxSubscriptions)
	if err := d.Add(&self{device: d}); err != nil {
		return nil, err
	}
	ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	other := c.Client.Unconfirmed
	c.Client.Serve = func(i transaction.Indication[ip.Address]) { d.serve(ctx, i) }
	c.Client.Unconfirmed = func(m ip.Message, s service.Unconfirmed, payload []byte) {
		d.unconfirmed(m, s, payload)
		if other != nil {
			other(m, s, payload)
		}
	}
	d.opening.Lock() // nothing is answered before the client is known
	defer d.opening.Unlock()
	opened, err := client.Open(ctx, c.Client)
	if err != nil {
		d.cancel()
		return nil, err
	}
	d.client = opened
	d.subs.attach(opened)
	return d, nil
}

// Close closes the socket and waits for requests that are under way.
func (d *Device) Close() error {
	d.cancel()
	d.subs.attach(nil)
	err := d.client.Close()
	d.waiting.Wait()
	d.subs.settled.Wait()
	return err
}

// Client returns the client on the device's socket.
func (d *Device) Client() *client.Client { return d.client }

// ID returns the identifier of the device.
func (d *Device) ID() encoding.ObjectID {
	return encoding.ObjectID{Type: enum.Device, Instance: d.config.Instance}
}

// Counts returns the counters.
func (d *Device) Counts() Counts {
	return Counts{d.reads.Load(), d.writes.Load(), d.refused.Load(), d.subs.count()}
}

// SetOperational sets the property system-status: a device that is not operational has nothing to show.
func (d *Device) SetOperational(is bool) { d.down.Store(!is) }

// Add adds an object.
func (d *Device) Add(o Object) error {
	if err := d.objects.add(o); err != nil {
		return err
	}
	if p, ok := o.(interface{ attach(changed func(Watched)) }); ok {
		p.attach(d.subs.changed)
	}
	return nil
}

// Announce broadcasts an I-Am, as devices do when they start.
func (d *Device) Announce() error {
	message := apdu.Append(nil, apdu.Header{Type: apdu.UnconfirmedRequest, Service: uint8(service.IAm)})
	return d.client.Port().Broadcast(0, d.announcement().Append(message))
}

func (d *Device) announcement() service.Announcement {
	return service.Announcement{Device: d.ID(), MaxAPDU: d.maxAPDU(), Vendor: d.config.Vendor}
}

// Changed tells those who subscribed to an object when it differs from what they were told. A
// [Point] of the device calls it by itself.
func (d *Device) Changed(o Watched) { d.subs.changed(o) }

// Forget drops all subscriptions, as a device does that restarts.
func (d *Device) Forget() { d.subs.forget() }

// unconfirmed answers Who-Is and Who-Has, to the one who asked.
func (d *Device) unconfirmed(m ip.Message, s service.Unconfirmed, payload []byte) {
	d.opening.RLock()
	c := d.client
	d.opening.RUnlock()
	if c == nil {
		return
	}
	to := client.Device{Address: m.From}
	switch s {
	case service.WhoIs:
		if r, err := service.DecodeWhoIs(payload); err == nil && r.Has(d.config.Instance) {
			_ = c.At(to).Tell(service.IAm, d.announcement().Append(nil)) // who asked asks again
		}
	case service.WhoHas:
		if q, err := service.DecodeObjectQuery(payload); err == nil && q.Devices.Has(d.config.Instance) {
			if o := d.objects.find(q); o != nil {
				a := service.ObjectAnnouncement{Device: d.ID(), Object: o.ID(), Name: o.Name()}
				_ = c.At(to).Tell(service.IHave, a.Append(nil))
			}
		}
	default:
	}
}

func (d *Device) maxAPDU() uint32 {
	if n := d.config.Client.Transaction.MaxAPDU; n >= 50 {
		return uint32(n)
	}
	return 1476
}
