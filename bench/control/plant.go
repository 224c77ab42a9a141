package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/device"
	"voltbus/driver/modbus"
	"voltbus/driver/sim"
	"voltbus/internal/folder"
	"voltbus/lab/modbusfarm"
	"voltbus/point"
)

// behind is how many boilers share a gateway.
const behind = 200

// plant makes devices, and names the point of each that is commanded. A farm serves until ctx ends.
func plant(ctx context.Context, kind string, devices int) ([]device.Config, []point.Path, error) {
	configs, points := make([]device.Config, devices), make([]point.Path, devices)
	address := ""
	for i := range configs {
		c := device.Config{Path: point.Path(fmt.Sprint("site/d", i)), Interval: time.Hour, Record: true}
		switch kind {
		case "sim":
			own := sim.NewConfig()
			own.Seed = int64(i + 1)
			c.Kind, c.Driver, points[i] = sim.Kind(), own, c.Path.Join("setpoint")
		case "modbus":
			if i%behind == 0 {
				var err error
				if address, err = gateway(ctx); err != nil {
					return nil, nil, err
				}
			}
			own, err := boiler(address, i%behind+1)
			if err != nil {
				return nil, nil, err
			}
			c.Kind, c.Driver, points[i] = modbus.Kind(), own, c.Path.Join("supply_setpoint")
		default:
			return nil, nil, fmt.Errorf("%q is no driver here; write sim or modbus", kind)
		}
		configs[i] = c
	}
	return configs, points, nil
}

// gateway serves boilers at an address of its own until ctx ends.
func gateway(ctx context.Context) (string, error) {
	ready, failed := make(chan string, 1), make(chan error, 1)
	go func() { // ends with the program
		failed <- modbusfarm.Serve(ctx, "127.0.0.1:0", modbusfarm.Config{Units: behind, Seed: 1, Ready: func(a string) { ready <- a }})
	}()
	select {
	case address := <-ready:
		return address, nil
	case err := <-failed:
		return "", err
	}
}

func boiler(address string, unit int) (*modbus.Config, error) {
	c := modbus.NewConfig()
	c.Address, c.Unit, c.Timeout = address, unit, 10*time.Second
	var problems []error
	c.Registry.Entries, problems = modbus.ParseCSV("registry", "boiler.csv", bytes.NewReader(modbusfarm.Registry))
	return c, errors.Join(append(problems, append(c.Load(folder.Any(".")), c.Validate()...)...)...)
}
