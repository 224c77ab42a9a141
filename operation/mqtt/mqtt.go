// Package mqtt declares and carries out the operations on the MQTT broker and its devices.
package mqtt

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/broker"
	"voltbus/broker/account"
	"voltbus/broker/unknown"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// Broker is the MQTT broker. See broker.Broker.
type Broker interface {
	State() broker.State
	Counts() broker.Counts
	Clients(after string, limit int) ([]broker.Client, bool)
	Unknown() []unknown.Topic
}

// Devices are the devices that may connect. See account.Registry.
type Devices interface {
	Add(ctx context.Context, list []account.NewDevice) error
	Rotate(ctx context.Context, name string) (secret string, err error)
	Certify(ctx context.Context, name string, fingerprint [32]byte, expires time.Time) error
	CertifyAll(ctx context.Context, given map[string]account.Issued) error
	Remove(ctx context.Context, name string) error
	Get(name string) (account.Device, bool)
	List(after string, limit int) ([]account.Device, bool)
	Len() int
}

// Issued is a certificate of the node's authority.
type Issued struct {
	Certificate, Key, Authority string // PEM
	Fingerprint                 [32]byte
	Expires                     time.Time
}

// The arguments.
type (
	// Page selects a page of a list.
	Page struct {
		After string `json:"after" api:"query,max=200" doc:"The last name of the page before"`
		Limit int    `json:"limit" api:"query,min=1,max=10000" doc:"1000 if left out"`
	}
	// Device names a device.
	Device struct {
		Device string `json:"device" api:"required,max=64" doc:"Its name"`
	}
	// Names are those of devices.
	Names struct {
		Devices []string `json:"devices" api:"required,max=1000" doc:"Up to 1000 names of devices"`
	}
	// NewDevice is a device to add.
	NewDevice struct {
		Name   string `json:"name" api:"required,max=64" doc:"Letters, digits and . _ : @ -; the user name that it shows"`
		Kind   string `json:"kind" api:"max=64" doc:"One of mqtt.kinds; default if left out"`
		Secret string `json:"secret" api:"max=128" doc:"20 to 128 random characters; made if left out"`
	}
	// List holds devices to add together.
	List struct {
		List *string `json:"list" api:"required,max=33554432" doc:"CSV with the columns name, kind and secret, or JSON, a list of objects with these fields"`
	}
)

const (
	smallBody = 4 << 10
	namesBody = 128 << 10
	listBody  = 48 << 20
	pageSize  = 1000
)

// The operations.
var (
	Status = operation.Declare[operation.None, answer.MQTTStatus](operation.Spec{
		Name: "mqtt.status", ID: "getMQTT", HTTP: "GET /mqtt", Role: identity.Viewer, Remote: true,
		Summary: "Count clients and messages of the MQTT broker", Result: "The counts",
	})
	ListDevices = operation.Declare[Page, answer.MQTTDevices](operation.Spec{
		Name: "mqtt.devices", ID: "listMQTTDevices", HTTP: "GET /mqtt/devices", Role: identity.Viewer, Remote: true,
		Summary: "List the devices that may connect to the MQTT broker", Result: "By name",
	})
	Add = operation.Declare[NewDevice, answer.MQTTSecret](operation.Spec{
		Name: "mqtt.add", ID: "addMQTTDevice", HTTP: "POST /mqtt/devices", Role: identity.Administrator, Audited: true, Body: smallBody,
		Summary: "Let a device connect to the MQTT broker", Result: "Its secret, which is shown only now",
	})
	Provision = operation.Declare[List, answer.MQTTSecrets](operation.Spec{
		Name: "mqtt.provision", ID: "provisionMQTTDevices", HTTP: "POST /mqtt/provision", Role: identity.Administrator, Audited: true, Body: listBody,
		Summary: "Let many devices connect to the MQTT broker, all or none", Result: "The secrets that were made, which are shown only now",
	})
	Remove = operation.Declare[Device, operation.None](operation.Spec{
		Name: "mqtt.remove", ID: "removeMQTTDevice", HTTP: "DELETE /mqtt/devices/{device}", Role: identity.Administrator, Audited: true,
		Summary: "Shut a device out of the MQTT broker, at once",
	})
	Rotate = operation.Declare[Device, answer.MQTTSecret](operation.Spec{
		Name: "mqtt.rotate", ID: "rotateMQTTSecret", HTTP: "POST /mqtt/devices/{device}/secret", Role: identity.Administrator, Audited: true,
		Summary: "Give a device a new secret; its connections end", Result: "The secret, which is shown only now",
	})
	Certify = operation.Declare[Device, answer.MQTTCertificate](operation.Spec{
		Name: "mqtt.certify", ID: "certifyMQTTDevice", HTTP: "POST /mqtt/devices/{device}/certificate", Role: identity.Administrator, Audited: true,
		Summary: "Give a device a certificate in place of the one before; its connections end", Result: "The certificate with its key, which is shown only now",
	})
	CertifyAll = operation.Declare[Names, answer.MQTTCertificates](operation.Spec{
		Name: "mqtt.certify_all", ID: "certifyMQTTDevices", HTTP: "POST /mqtt/certificates", Role: identity.Administrator, Audited: true, Body: namesBody,
		Summary: "Give many devices new certificates, all or none; their connections end", Result: "The certificates with their keys, which are shown only now",
	})
	Clients = operation.Declare[Page, answer.MQTTClients](operation.Spec{
		Name: "mqtt.clients", ID: "listMQTTClients", HTTP: "GET /mqtt/clients", Role: identity.Viewer, Remote: true,
		Summary: "List clients of the MQTT broker, connected or away", Result: "By device and client identifier",
	})
	Unknown = operation.Declare[operation.None, answer.MQTTUnknowns](operation.Spec{
		Name: "mqtt.unknown", ID: "listUnknownMQTT", HTTP: "GET /mqtt/unknown", Role: identity.Viewer, Remote: true,
		Summary: "Show the last messages that no template took, with a template that would", Result: "The last one first",
	})
)

// Part carries out the operations on the broker. Both Broker and Devices are nil on a node without one.
type Part struct {
	Broker  Broker
	Devices Devices
	Issue   func(device string) (Issued, error)
	// Applications are nil on a node without a broker.
	Applications Applications
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		operation.Bind(Status, nil, p.status),
		operation.Bind(ListDevices, nil, there(p, p.devices)),
		operation.Bind(Add, nil, there(p, p.add)),
		operation.Bind(Provision, nil, there(p, p.provision)),
		operation.Bind(Remove, nil, there(p, p.remove)),
		operation.Bind(Rotate, nil, there(p, p.rotate)),
		operation.Bind(Certify, nil, there(p, p.certify)),
		operation.Bind(CertifyAll, nil, there(p, p.certifyAll)),
		operation.Bind(Clients, nil, there(p, p.clients)),
		operation.Bind(Unknown, nil, there(p, p.unknown)),
		operation.Bind(ListApplications, nil, p.applications),
	}
}

var errNone = errors.New("there is no MQTT broker: set listen.mqtt, listen.mqtts or listen.mqtt_websocket, and start the node, which must run")

// there runs a handler only if there is a broker.
func there[In, Out any](p *Part, do operation.Handler[In, Out]) operation.Handler[In, Out] {
	return func(ctx context.Context, c *operation.Call, in *In) (out Out, err error) {
		if p.Devices == nil {
			return out, fault.E("mqtt", fault.Unavailable, "", errNone)
		}
		return do(ctx, c, in)
	}
}

func (p *Part) status(context.Context, *operation.Call, *operation.None) (answer.MQTTStatus, error) {
	if p.Broker == nil {
		return answer.MQTTStatus{}, nil
	}
	return p.Counts(), nil
}

// Counts counts clients and messages. Broker must not be nil.
func (p *Part) Counts() answer.MQTTStatus {
	s, n := p.Broker.State(), p.Broker.Counts()
	return answer.MQTTStatus{
		Broker:  true,
		Devices: p.Devices.Len(), Connected: s.Connected, Sessions: s.Sessions, Subscriptions: s.Subscriptions, Retained: s.Retained,
		Waiting: s.Waiting, Connects: n.Connects, Refused: n.Refused, Received: n.Received, Delivered: n.Delivered, Recorded: n.Recorded,
		Samples: n.Samples, Unknown: n.Unknown, Undecoded: n.Undecoded, Unauthorized: n.Unauthorized, Dropped: n.Dropped,
		Overflow: n.Overflow, NotRecorded: n.NotRecorded, NotRetained: n.Unretained,
	}
}

func (p *Part) devices(_ context.Context, _ *operation.Call, in *Page) (answer.MQTTDevices, error) {
	list, more := p.Devices.List(in.After, cmp.Or(in.Limit, pageSize))
	out := answer.MQTTDevices{Devices: make([]answer.MQTTDevice, len(list)), Total: p.Devices.Len(), More: more}
	for i, d := range list {
		out.Devices[i] = answer.MQTTDevice{Name: d.Name, Kind: d.Kind, Created: d.Created, Changed: d.Changed}
		if d.Certificate != [32]byte{} {
			out.Devices[i].Certificate = &d.Expires
		}
	}
	return out, nil
}

func (p *Part) add(ctx context.Context, c *operation.Call, in *NewDevice) (answer.MQTTSecret, error) {
	c.Did(in.Name, map[string]any{"kind": in.Kind})
	list := []account.NewDevice{{Name: in.Name, Kind: in.Kind, Secret: in.Secret}}
	if err := p.Devices.Add(ctx, list); err != nil {
		return answer.MQTTSecret{}, err
	}
	return answer.MQTTSecret(list[0]), nil
}

func (p *Part) provision(ctx context.Context, c *operation.Call, in *List) (answer.MQTTSecrets, error) {
	list, err := account.ParseList([]byte(*in.List))
	if err != nil {
		return answer.MQTTSecrets{}, err
	}
	c.Did(list[0].Name, map[string]any{"devices": len(list)})
	made := make([]bool, len(list))
	for i := range list {
		made[i] = list[i].Secret == ""
	}
	if err := p.Devices.Add(ctx, list); err != nil {
		return answer.MQTTSecrets{}, err
	}
	out := answer.MQTTSecrets{Count: len(list), Devices: []answer.MQTTSecret{}}
	for i := range list {
		if made[i] {
			out.Devices = append(out.Devices, answer.MQTTSecret(list[i]))
		}
	}
	return out, nil
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Device) (operation.None, error) {
	c.Did(in.Device, nil)
	return operation.None{}, p.Devices.Remove(ctx, in.Device)
}

func (p *Part) rotate(ctx context.Context, c *operation.Call, in *Device) (answer.MQTTSecret, error) {
	c.Did(in.Device, nil)
	secret, err := p.Devices.Rotate(ctx, in.Device)
	if err != nil {
		return answer.MQTTSecret{}, err
	}
	d, _ := p.Devices.Get(in.Device)
	return answer.MQTTSecret{Name: in.Device, Kind: d.Kind, Secret: secret}, nil
}

func (p *Part) certify(ctx context.Context, c *operation.Call, in *Device) (answer.MQTTCertificate, error) {
	c.Did(in.Device, nil)
	if _, is := p.Devices.Get(in.Device); !is {
		return answer.MQTTCertificate{}, p.Devices.Certify(ctx, in.Device, [32]byte{}, time.Time{}) // reports that there is none
	}
	issued, err := p.Issue(in.Device)
	if err == nil {
		err = p.Devices.Certify(ctx, in.Device, issued.Fingerprint, issued.Expires)
	}
	if err != nil {
		return answer.MQTTCertificate{}, err
	}
	return answer.MQTTCertificate{
		Name: in.Device, Certificate: issued.Certificate, Key: issued.Key, Authority: issued.Authority, Expires: issued.Expires.UTC(),
	}, nil
}

func (p *Part) clients(_ context.Context, _ *operation.Call, in *Page) (answer.MQTTClients, error) {
	list, more := p.Broker.Clients(in.After, cmp.Or(in.Limit, pageSize))
	out := answer.MQTTClients{Clients: make([]answer.MQTTClient, len(list)), More: more}
	for i := range list {
		c := &list[i]
		a := answer.MQTTClient{
			Client: c.ID, Device: c.Device, Address: c.Address, Expiry: int64(c.Expiry), Subscriptions: c.Filters, Waiting: c.Waiting, Dropped: c.Dropped,
		}
		if c.Address != "" {
			at := c.Connected.UTC()
			a.Connected, a.Version = &at, map[int]string{4: "3.1.1", 5: "5.0"}[c.Version]
		}
		out.Clients[i] = a
	}
	return out, nil
}

func (p *Part) unknown(context.Context, *operation.Call, *operation.None) (answer.MQTTUnknowns, error) {
	list := p.Broker.Unknown()
	out := answer.MQTTUnknowns{Topics: make([]answer.MQTTUnknown, len(list))}
	for i := range list {
		u := &list[i]
		out.Topics[i] = answer.MQTTUnknown{
			Topic: u.Name, Device: u.Device, Template: u.Template, Why: u.Why, Payload: strings.ToValidUTF8(string(u.Payload), "\uFFFD"),
			Count: u.Count, At: u.At.UTC(), Proposal: u.Proposal,
		}
	}
	return out, nil
}
