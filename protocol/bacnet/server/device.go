package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
	Instance uint32 // 0–4194302, unique in the whole network
	Name     string
	Vendor   uint16 // vendor identifier that ASHRAE assigned
	Model    string
	// Client has the socket and the limits; Serve is the device's own.
	Client client.Config
	// MaxSubscriptions bounds the subscriptions to changes; 0: 1000.
	MaxSubscriptions int
}

// Device is a device on the network. It may be used by several goroutines.
type Device struct {
	config Config
	client *client.Client

	mu      sync.RWMutex
	objects map[encoding.ObjectID]Object
	names   map[string]encoding.ObjectID
	order   []encoding.ObjectID
	subs    map[subscriber]*subscription
}

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
	d := &Device{config: c, objects: map[encoding.ObjectID]Object{}, names: map[string]encoding.ObjectID{}, subs: map[subscriber]*subscription{}}
	if err := d.Add(&self{device: d}); err != nil {
		return nil, err
	}
	other := c.Client.Unconfirmed
	c.Client.Serve = d.serve
	c.Client.Unconfirmed = func(m ip.Message, s service.Unconfirmed, payload []byte) {
		d.unconfirmed(m, s, payload)
		if other != nil {
			other(m, s, payload)
		}
	}
	d.mu.Lock() // nothing is answered before the client is known
	defer d.mu.Unlock()
	opened, err := client.Open(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	d.client = opened
	return d, nil
}

// Close closes the socket.
func (d *Device) Close() error { return d.client.Close() }

// Client returns the client on the device's socket.
func (d *Device) Client() *client.Client { return d.client }

// ID returns the identifier of the device.
func (d *Device) ID() encoding.ObjectID {
	return encoding.ObjectID{Type: enum.Device, Instance: d.config.Instance}
}

// Add adds an object.
func (d *Device) Add(o Object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := o.ID()
	_, named := d.names[o.Name()]
	switch {
	case id.Instance > encoding.MaxInstance:
		return fmt.Errorf("add %v: %w", id, ErrInstance)
	case d.objects[id] != nil || named:
		return fmt.Errorf("add %v %q: %w", id, o.Name(), ErrDuplicate)
	}
	d.objects[id], d.names[o.Name()] = o, id
	d.order = append(d.order, id)
	if p, ok := o.(*Point); ok {
		p.attach(d.Changed)
	}
	return nil
}

// object returns an object; the instance 4194303 of a device stands for this one (clause 15.5.2).
func (d *Device) object(id encoding.ObjectID) (Object, error) {
	if id.Type == enum.Device && id.Instance == encoding.MaxInstance+1 {
		id = d.ID()
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if o := d.objects[id]; o != nil {
		return o, nil
	}
	return nil, service.Error{Class: enum.ClassObject, Code: enum.CodeUnknownObject}
}

// unconfirmed answers Who-Is and Who-Has, to the one who asked.
func (d *Device) unconfirmed(m ip.Message, s service.Unconfirmed, payload []byte) {
	d.mu.RLock()
	c := d.client
	d.mu.RUnlock()
	to := client.Device{Address: m.From}
	switch s {
	case service.WhoIs:
		if r, err := service.DecodeWhoIs(payload); err == nil && r.Has(d.config.Instance) {
			a := service.Announcement{Device: d.ID(), MaxAPDU: d.maxAPDU(), Vendor: d.config.Vendor}
			_ = c.At(to).Tell(service.IAm, a.Append(nil)) // who asked asks again
		}
	case service.WhoHas:
		if q, err := service.DecodeObjectQuery(payload); err == nil && q.Devices.Has(d.config.Instance) {
			if o := d.find(q); o != nil {
				a := service.ObjectAnnouncement{Device: d.ID(), Object: o.ID(), Name: o.Name()}
				_ = c.At(to).Tell(service.IHave, a.Append(nil))
			}
		}
	default:
	}
}

func (d *Device) find(q service.ObjectQuery) Object {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if q.Name != "" {
		return d.objects[d.names[q.Name]]
	}
	return d.objects[q.Object]
}

func (d *Device) maxAPDU() uint32 {
	if n := d.config.Client.Transaction.MaxAPDU; n >= 50 {
		return uint32(n)
	}
	return 1476
}

// serve answers a confirmed service.
func (d *Device) serve(i transaction.Indication[ip.Address]) {
	d.mu.RLock()
	c := d.client
	d.mu.RUnlock()
	answer, err := d.carryOut(i)
	var refused service.Error
	var multiple service.WriteMultipleError
	switch {
	case err == nil && answer == nil:
		c.Respond(i, transaction.Response{Type: apdu.SimpleAck})
		if i.Service == service.SubscribeCOV {
			d.greet(i.Payload)
		}
	case err == nil:
		c.Respond(i, transaction.Response{Type: apdu.ComplexAck, Payload: answer})
	case errors.Is(err, errService):
		c.Respond(i, transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)})
	case errors.Is(err, errRequest):
		c.Respond(i, transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectInvalidTag)})
	case errors.As(err, &multiple):
		c.Respond(i, transaction.Response{Type: apdu.Error, Payload: multiple.Append(nil)})
	case errors.As(err, &refused):
		c.Respond(i, transaction.Response{Type: apdu.Error, Payload: refused.Append(nil)})
	default:
		e := service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
		c.Respond(i, transaction.Response{Type: apdu.Error, Payload: e.Append(nil)})
	}
}
