package node_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/lab/modbusfarm"
	"voltbus/operation/devices"
	"voltbus/testing/peers"
)

// boiler serves the boilers at an address until the function that it returns is called.
func boiler(t *testing.T, address string) (actual string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- modbusfarm.Serve(ctx, address, modbusfarm.Config{Ready: func(a string) { ready <- a }})
	}()
	select {
	case actual = <-ready:
	case err := <-done:
		t.Fatal(errors.Join(errors.New("the boiler does not start"), err))
	}
	return actual, func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestADeviceThatVanishesIsSaidToAndComesBackByItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boiler.csv"), modbusfarm.Registry, 0o600); err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + peers.FreePort(t) // it comes back there
	_, stop := boiler(t, address)
	r := run(t, load(t, dir, listenAnywhere+`
devices:
  - {path: site/boiler, driver: modbus, interval: 100ms, config: {address: "`+address+`", registry: boiler.csv}}
  - {path: site/zone, driver: sim, interval: 100ms, config: {model: zone}}
`))
	ctx := context.Background()
	state := func(i int) answer.Device {
		d, err := client.Do(ctx, r.Client, devices.List, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return d.Devices[i]
	}
	quality := func() string {
		l, err := r.Latest(ctx, client.Span{Points: []string{"site/boiler/supply_temp"}})
		if err != nil || len(l.Samples) == 0 {
			return ""
		}
		return l.Samples[0].Quality
	}
	eventually(t, "the boiler's temperature is stored", func() bool { return quality() == "good" })
	stop()
	eventually(t, "the device is offline", func() bool { return state(0).State == "offline" })
	eventually(t, "the history says why there is no value", func() bool { return quality() == "bad(unreachable)" })
	if d := state(0); d.ErrorKind != "unreachable" || d.LastError == "" {
		t.Errorf("the device's error is %q %q", d.ErrorKind, d.LastError)
	}
	before := state(1)
	eventually(t, "the other device is read on", func() bool { return state(1).Reads > before.Reads+5 })
	if d := state(1); d.State != "online" || d.Failures != 0 {
		t.Errorf("the other device: %+v", d)
	}
	_, stop = boiler(t, address)
	defer stop()
	eventually(t, "the boiler is read again", func() bool { return state(0).State == "online" && quality() == "good" })
}
