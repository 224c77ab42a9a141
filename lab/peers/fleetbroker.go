package peers

import (
	"context"
	"errors"
	"os/exec"
	"slices"
)

// Fleet is a broker of another project for fleets of MQTT devices.
type Fleet struct {
	Name    string
	Promise string // what its answer to a message with QoS 1 means for the disk, in one sentence
	Old     bool   // it speaks MQTT 3.1.1, and not 5.0
	Alone   bool   // it has no shared subscriptions
	// Find returns nil if the broker is here, else how to get it.
	Find func() error
	// Open starts it in a directory for clients with these names and passwords.
	Open func(ctx context.Context, dir string, passwords map[string]string) (*FleetBroker, error)
}

// Fleets are the brokers that can be compared with.
func Fleets() []Fleet {
	return []Fleet{
		{Name: "Mosquitto", Promise: "It keeps everything in memory: its PUBACK says that it has taken a message, not that it is on disk.", Find: mosquitto().Find, Open: openMosquittoFleet},
		{
			Name: "RabbitMQ", Old: true, Alone: true, Find: rabbitMQ().Find, Open: openRabbitFleet,
			Promise: "Its MQTT plugin speaks MQTT 3.1.1; a PUBACK says that the message is in the queues of its subscribers, and without subscribers it is in none and not on disk.",
		},
		{
			Name: "HiveMQ CE", Find: findHive, Open: openHive,
			Promise: "A PUBACK says that it has taken the message; messages go to a file for sessions that wait for them, and without such sessions to none.",
		},
		{Name: "aedes", Promise: "It keeps everything in memory and speaks MQTT 3.1.1.", Old: true, Alone: true, Find: findAedes, Open: openAedes},
	}
}

// FleetBroker is an MQTT broker of another project that serves a fleet of devices, with and without TLS.
type FleetBroker struct {
	Plain, Secure string // where clients connect
	CA            string // file with what signed its certificate
	servers       []*server
	pid           int // of the broker's process, if another one started it
}

// Process is the number of the broker's process.
func (b *FleetBroker) Process() int {
	if b.pid != 0 {
		return b.pid
	}
	return b.servers[0].process()
}

// Close stops the broker.
func (b *FleetBroker) Close() error {
	var errs []error
	for _, s := range slices.Backward(b.servers) {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}

// doors are what each broker needs: a certificate, and ports with TLS and without.
type doors struct {
	*FleetBroker
	cert          *certificate
	plain, secure int
}

func newDoors(dir string) (*doors, error) {
	cert, err := newCertificate(dir)
	if err != nil {
		return nil, err
	}
	plain, err := freePort()
	if err != nil {
		return nil, err
	}
	secure, err := freePort()
	if err != nil {
		return nil, err
	}
	b := &FleetBroker{Plain: loopback(plain), Secure: loopback(secure), CA: cert.certFile}
	return &doors{b, cert, plain, secure}, nil
}

// start starts the broker's program and waits until it listens.
func (d *doors) start(ctx context.Context, cmd *exec.Cmd) (*FleetBroker, error) {
	s, err := start(ctx, cmd, d.Secure)
	if err != nil {
		return nil, err
	}
	d.servers = append(d.servers, s)
	return d.FleetBroker, nil
}
