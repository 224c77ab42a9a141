// Package front assembles the MQTT broker of a node: its devices, storage and listeners.
package front

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/broker"
	"voltbus/broker/account"
	"voltbus/broker/application"
	"voltbus/broker/cluster"
	"voltbus/broker/command"
	"voltbus/broker/discovery"
	"voltbus/broker/door"
	"voltbus/broker/setting"
	"voltbus/broker/sparkplug"
	"voltbus/broker/storage"
	"voltbus/broker/template"
	"voltbus/bus/mesh"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/mqtt/session"
)

// Refusal is somebody who was not let in.
type Refusal = broker.Refusal

// Config is what a front is made from.
type Config struct {
	Setting       setting.Section
	Dir           string // the data directory
	Plain, Secure string // where to listen, "" for not at all
	TLS           func() (*tls.Config, error)
	Catalogue     Catalogue
	Points        int // that belong to no device and may be listed
	Recorder      Recorder
	Mesh          *mesh.Mesh // nil for a node alone
	Live          func(*point.Scan)
	Heard         func(*point.Scan) // takes what was reported at another replica; nil for a node alone
	Told          func(broker.Refusal)
	// Carry carries out what applications ask for, and Blocks is the log from which they get the status.
	Carry  application.Carrier
	Blocks application.Log
	Bounds point.Bounds
	Now    func() time.Time
	Log    *slog.Logger
}

// Catalogue lists points, as package catalog does.
type Catalogue interface {
	Places(dst []catalog.Place, n int, path func(i int) point.Path) []catalog.Place
	Upsert(ctx context.Context, infos []point.Info) error
	Free() int
}

// Recorder makes samples durable, as package recorder does.
type Recorder interface {
	Record(ctx context.Context, samples []point.Sample) error
	Offer(samples []point.Sample) bool
}

// Front is an open broker. Close it, or Run it and then close it.
type Front struct {
	*broker.Broker
	Devices *account.Registry
	// Commands carries out commands for points of devices.
	Commands *command.Commander
	storage  *storage.Storage
	cluster  *cluster.Cluster // nil for a node alone
	host     *sparkplug.Host  // nil if the node is none
	ha       *discovery.Host  // nil if devices do not describe themselves
	doors    []door.Door
	// Applications are the programs outside that may command.
	Applications *application.Gate
	// templates are those in use.
	templates atomic.Pointer[template.Set]
	cfg       Config
}

// Announce publishes a message of the node with QoS 1, and returns for how many clients it is.
func (f *Front) Announce(topic string, payload []byte) (clients int) {
	return broker.NewSender(f.Broker).Send(&session.Message{Topic: topic, Payload: payload, QoS: 1})
}

// Open opens the storage, brings back what it kept, and listens. Nobody is served before Run.
func Open(ctx context.Context, cfg Config) (f *Front, err error) {
	f = &Front{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	templates, err := compile(cfg.Setting.Templates)
	if err != nil {
		return f, err
	}
	f.templates.Store(templates)
	if f.storage, err = storage.Open(ctx, cfg.Dir); err != nil {
		return f, err
	}
	if err := f.openDevices(ctx); err != nil {
		return f, err
	}
	f.host = sparkplug.New(cfg.Setting.Sparkplug, func(m *session.Message) { broker.NewSender(f.Broker).Send(m) }, cfg.Now)
	f.ha = discovery.New(cfg.Setting.HomeAssistant)
	f.Commands, err = command.Open(ctx, command.Config{
		Storage: f.storage, Send: func(topic string, payload []byte, within time.Duration) bool {
			return broker.NewSender(f.Broker).Command(topic, payload, within)
		},
		Make: func(k command.Known) *template.Command { return f.commandOf(k) }, Now: cfg.Now, Log: cfg.Log,
	})
	if err != nil {
		return f, err
	}
	f.Applications = application.New(application.Config{
		Applications: cfg.Setting.Applications, Carry: cfg.Carry, Blocks: cfg.Blocks, Send: func(m *session.Message) { broker.NewSender(f.Broker).Send(m) },
		Refused: f.refused, Now: cfg.Now, Log: cfg.Log,
	})
	cfg.Setting.Kinds = cfg.Setting.AllKinds()
	f.Broker = broker.New(broker.Config{
		Setting: cfg.Setting, Templates: templates, Find: f.find, Take: f.Applications.Take, Kept: f.ha.Learn, Devices: f.Devices, Storage: f.storage, Cluster: f.cluster,
		List: f.list, Record: cfg.Recorder.Record, Offer: cfg.Recorder.Offer, Live: f.live, Commanded: f.found, Told: f.tellRefusal,
		Bounds: cfg.Bounds, Now: cfg.Now, Log: cfg.Log,
	})
	f.Devices.Notify(f.Dismiss)
	if err := f.Load(ctx); err != nil {
		return f, err
	}
	if err := f.Join(ctx); err != nil {
		return f, err
	}
	return f, f.listen()
}

// openDevices opens the accounts: at a replica those that all have in common.
func (f *Front) openDevices(ctx context.Context) (err error) {
	devices := &shared{front: f}
	if f.cluster, err = f.join(ctx, devices); err != nil {
		return err
	}
	kept := account.Storage(f.storage)
	if f.cluster != nil {
		kept = devices
	}
	if f.Devices, err = account.Open(ctx, kept, f.cfg.Now, nil); err == nil {
		devices.registry.Store(f.Devices)
	}
	return err
}

func compile(list []setting.Template) (*template.Set, error) {
	set, err := template.Compile(list)
	if err != nil {
		return nil, fault.E("front.Open", fault.Invalid, "mqtt.templates", err)
	}
	return set, nil
}

// Adopt prepares other templates; messages that arrive after the function that it returns was called become points by them.
// A point that can be commanded stays so until the next start, even if no template has it any more.
func (f *Front) Adopt(list []setting.Template) (begin func(), err error) {
	set, err := compile(list)
	if err != nil {
		return nil, err
	}
	return func() {
		f.templates.Store(set)
		broker.Adopt(f.Broker, set)
	}, nil
}

// listen opens the doors.
func (f *Front) listen() error {
	for _, d := range []struct{ key, address string }{{"listen.mqtt", f.cfg.Plain}, {"listen.mqtts", f.cfg.Secure}} {
		if d.address == "" {
			continue
		}
		l, err := net.Listen("tcp", d.address) //nolint:noctx // local and immediate
		if err != nil {
			return fault.E("front.Open", fault.Conflict, d.address, fmt.Errorf(
				"cannot listen for MQTT clients: %w; stop the program that uses the port, or set %s to another address", err, d.key))
		}
		door := door.Door{Listener: l}
		if d.key == "listen.mqtts" {
			if door.TLS, err = f.cfg.TLS(); err != nil {
				return errors.Join(err, l.Close())
			}
		}
		f.doors = append(f.doors, door)
	}
	return nil
}

// commandOf returns how a point is commanded by the templates, nil if it is not any more.
func (f *Front) commandOf(k command.Known) *template.Command {
	if strings.HasPrefix(k.Detail, discovery.Detail) {
		return f.ha.Restore(k.Detail)
	}
	if k.Detail != "" {
		return f.host.Restore(k.Detail)
	}
	m := f.templates.Load().Find(k.Topic)
	if m == nil {
		return nil
	}
	for _, c := range m.Commands() {
		if c.Point == k.Point {
			return c
		}
	}
	return nil
}

// find returns what takes messages before the templates, or after them if they describe themselves; nil for nothing.
func (f *Front) find(topic string) *template.Match {
	if m := f.host.Find(topic); m != nil || f.ha == nil || f.templates.Load().Find(topic) != nil {
		return m
	}
	return f.ha.Find(topic)
}

// live tells whoever listens, and who waits for a report.
func (f *Front) live(scan *point.Scan) {
	f.Commands.Hear(scan)
	f.pass(scan)
	f.cfg.Live(scan)
}

// Run serves clients until ctx ends. declare has control know the points that can be commanded now.
func (f *Front) Run(ctx context.Context, declare func(context.Context) error) error {
	if err := f.hearOthers(); err != nil { //nolint:contextcheck // questions of others come at any time
		return err
	}
	var commands errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	if f.cfg.Mesh != nil {
		commands.Go(func() error { f.learnAll(ctx); return nil })
	}
	commands.Go(func() error { return f.Commands.Run(ctx, declare) })
	commands.Go(func() error { f.Applications.Run(ctx); return nil })
	f.host.Announce(true)
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	leave := context.AfterFunc(ctx, func() { // while clients are still there
		f.host.Announce(false)
		end()
	})
	joined, part := context.WithCancel(context.WithoutCancel(ctx))
	if f.cluster != nil { // until the broker has kept everything
		commands.Go(func() error { return f.cluster.Run(joined) })
	}
	err := f.Broker.Run(serving, f.doors...)
	leave()
	end()
	stop()
	part()
	return errors.Join(err, commands.Wait())
}

// Close closes what Open opened.
func (f *Front) Close() error {
	var errs []error
	for _, d := range f.doors {
		if err := d.Listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if f.storage != nil {
		errs = append(errs, f.storage.Close())
	}
	return errors.Join(errs...)
}

// Addr returns where it listens, with TLS or without, "" if it does not.
func (f *Front) Addr(secure bool) string {
	if i := slices.IndexFunc(f.doors, func(d door.Door) bool { return (d.TLS != nil) == secure }); i >= 0 {
		return f.doors[i].Listener.Addr().String()
	}
	return ""
}

// tellRefusal tells who counts what the broker refuses to an application, and the audit log.
func (f *Front) tellRefusal(r broker.Refusal) {
	f.Applications.Note(r.Device, r.Topic, r.Action+": "+r.Why)
	f.cfg.Told(r)
}

// refused tells the audit log what was refused to an application.
func (f *Front) refused(device, topic, why string) {
	action := "command"
	if !f.Applications.Knows(device) {
		action = "publish"
	}
	f.cfg.Told(broker.Refusal{Device: device, Action: action, Topic: topic, Why: why})
}

var (
	errOfDevice = errors.New("belongs to a device that this node reads, or to a descendant; write another place in device of the template")
	errPoints   = errors.New("this node lists as many points without a device as ingest.points allows")
)

// list makes points known that messages hold.
func (f *Front) list(ctx context.Context, fresh []point.Info) (refused []error, err error) {
	refused = make([]error, len(fresh))
	places := f.cfg.Catalogue.Places(nil, len(fresh), func(i int) point.Path { return fresh[i].Path })
	room := f.cfg.Points - f.cfg.Catalogue.Free()
	list := make([]point.Info, 0, len(fresh))
	for i, p := range places {
		switch {
		case p == catalog.OfDevice:
			refused[i] = errOfDevice
			continue
		case p == catalog.Unlisted && room <= 0:
			refused[i] = errPoints
			continue
		case p == catalog.Unlisted:
			room--
		}
		list = append(list, fresh[i])
	}
	if len(list) == 0 {
		return refused, nil
	}
	return refused, f.cfg.Catalogue.Upsert(ctx, list)
}

// Drain returns what sends the clients of the broker to other replicas.
func (f *Front) Drain() broker.Drain { return broker.NewDrain(f.Broker) }
