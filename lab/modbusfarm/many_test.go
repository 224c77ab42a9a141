package modbusfarm

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"voltbus/device"
	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/point"
)

// The plant of the benchmark: 4,000 boilers behind gateways.
const (
	gateways = 20
	boilers  = 200 // behind each
)

type nowhere struct{}

func (nowhere) Hear(*point.Scan)               {}
func (nowhere) Live(*point.Scan, device.Forms) {}
func (nowhere) Record([]point.Sample) bool     { return true }
func (nowhere) Settle(kept func())             { kept() }

// BenchmarkSetPointsOf4000Boilers sets one set point of each boiler and reads it back, over real
// sockets to servers in the same process: by the driver alone, with one goroutine a gateway, and in
// one call of the device owner. The difference is what the owner costs.
func BenchmarkSetPointsOf4000Boilers(b *testing.B) {
	configs := make([]*modbus.Config, 0, gateways*boilers)
	for range gateways {
		address := serve(b, boilers)
		for unit := range boilers {
			configs = append(configs, config(b, address, unit+1))
		}
	}
	b.Run("driver alone", func(b *testing.B) { driverAlone(b, configs) })
	b.Run("one call", func(b *testing.B) { oneCall(b, configs) })
}

func setpoint(round int) point.Value { return point.FloatOf(float64(50 + round%20)) }

func driverAlone(b *testing.B, configs []*modbus.Config) {
	b.Helper()
	sessions := make([][]driver.Writer, gateways)
	for g := range sessions {
		l, err := modbus.Kind().Dial(b.Context(), configs[g*boilers])
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		for i := range boilers {
			s, err := l.Open(b.Context(), configs[g*boilers+i])
			if err != nil {
				b.Fatal(err)
			}
			sessions[g] = append(sessions[g], s.(driver.Writer))
		}
	}
	round := 0
	for b.Loop() {
		round++
		var all sync.WaitGroup
		for _, line := range sessions {
			all.Go(func() {
				for _, s := range line {
					if _, err := s.Write(b.Context(), "supply_setpoint", setpoint(round)); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
}

func oneCall(b *testing.B, configs []*modbus.Config) {
	b.Helper()
	f := device.New(nowhere{}, slog.New(slog.DiscardHandler), device.Limits{})
	devices, settings := make([]device.Config, len(configs)), make([]device.Setting, len(configs))
	for i, c := range configs {
		devices[i] = device.Config{Path: point.Path(fmt.Sprint("site/boiler", i)), Kind: modbus.Kind(), Driver: c, Interval: time.Hour, Record: true}
		settings[i].Point = devices[i].Path.Join("supply_setpoint")
	}
	if err := f.Apply(devices); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	round := 0
	write := func() (failed error) {
		round++
		for i := range settings {
			settings[i].Value = setpoint(round)
		}
		for _, o := range f.WriteMany(ctx, settings) {
			if o.Err != nil {
				failed = o.Err
			}
		}
		return failed
	}
	for write() != nil { // until it runs and every line is open
		if b.Failed() || b.Context().Err() != nil {
			return
		}
	}
	for b.Loop() {
		if err := write(); err != nil {
			b.Fatal(err)
		}
	}
}
