// Package modbusfarm is a Modbus TCP server that simulates a plant of boilers, one per unit, for the demonstration and for load tests:
// floats, integers, bits and texts that change plausibly, writable set points, and an address space with gaps. Registry describes a
// boiler for the driver.
package modbusfarm

import (
	"context"
	_ "embed" // for boiler.csv
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/simonvetter/modbus"
)

// Registry is the register list of a boiler, in the form that the driver modbus reads.
//
//go:embed boiler.csv
var Registry []byte

const (
	maxUnits = 247 // Modbus over serial line V1.02, 2.2
	// mostClients is far above what the limit of open files allows.
	mostClients = 100_000
	// idle is how long a client may be silent.
	idle = 10 * time.Minute
	// attempts is how often a free port is looked for.
	attempts = 10
)

// Config says what Serve serves. The zero value is one boiler.
type Config struct {
	Units int   // boilers, with the units 1 to Units; at most 247
	Seed  int64 // boilers of another seed move otherwise
	// Ready is called once with the address, host:port, when clients can connect. It may be nil.
	Ready func(address string)
}

// Serve serves the boilers at the address, such as "127.0.0.1:0" for any free port, until ctx
// ends; it returns nil then. It closes all connections, whose goroutines end on their own.
func Serve(ctx context.Context, address string, cfg Config) error {
	units := max(1, cfg.Units)
	if units > maxUnits {
		return fmt.Errorf("%d units do not fit on a line; ask for at most %d", units, maxUnits)
	}
	server, address, err := listen(ctx, address, newPlant(units, cfg.Seed, time.Now))
	if err != nil {
		return fmt.Errorf("serve Modbus at %s: %w", address, err)
	}
	if cfg.Ready != nil {
		cfg.Ready(address)
	}
	<-ctx.Done()
	return server.Stop()
}

// listen starts the server. The library does not reveal which port it got, so for port 0 a free
// one is chosen, and another if that was taken meanwhile.
func listen(ctx context.Context, address string, plant *plant) (*modbus.ModbusServer, string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, address, err
	}
	for try := 1; ; try++ {
		actual := address
		if port == "0" {
			if actual, err = freePort(ctx, host); err != nil {
				return nil, address, err
			}
		}
		server, err := modbus.NewServer(&modbus.ServerConfiguration{
			URL: "tcp://" + actual, Timeout: idle, MaxClients: mostClients,
			Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		}, plant)
		if err != nil {
			return nil, actual, err
		}
		err = server.Start()
		if err == nil {
			return server, actual, nil
		}
		if port != "0" || try == attempts || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, actual, err
		}
	}
}

func freePort(ctx context.Context, host string) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
