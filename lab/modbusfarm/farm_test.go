package modbusfarm

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/driver/modbus"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a farm until the test ends and returns its address.
func serve(t testing.TB, units int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan string, 1)
	var running sync.WaitGroup
	running.Go(func() {
		if err := Serve(ctx, "127.0.0.1:0", Config{Units: units, Seed: 1, Ready: func(a string) { ready <- a }}); err != nil {
			t.Errorf("serve: %v", err)
			ready <- ""
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return <-ready
}

func config(t testing.TB, address string, unit int) *modbus.Config {
	t.Helper()
	c := modbus.NewConfig()
	c.Address, c.Unit, c.Timeout = address, unit, 2*time.Second
	var problems []error
	c.Registry.Entries, problems = modbus.ParseCSV("registry", "boiler.csv", bytes.NewReader(Registry))
	if problems = append(problems, append(c.Load(folder.Any(".")), c.Validate()...)...); len(problems) > 0 {
		t.Fatalf("the registry has problems: %v", errors.Join(problems...))
	}
	return c
}

func TestTheDriverReadsABoilerByItsRegistry(t *testing.T) {
	address := serve(t, 3)
	drivertest.Run(t, drivertest.Harness{
		Kind: modbus.Kind(), Peer: address, Timeout: 2 * time.Second,
		Config:   func(t *testing.T, address string) driver.Config { t.Helper(); return config(t, address, 2) },
		Want:     map[string]point.Value{"unit_id": point.IntOf(2), "model": point.TextOf("VB-250 Condens"), "max_fire": point.IntOf(100)},
		Writable: "supply_setpoint", Value: point.FloatOf(62.5), ReadOnly: "supply_temp",
	})
}

func TestABoilerRefusesWhatItCannotDo(t *testing.T) {
	address := serve(t, 1)
	l, err := modbus.Kind().Dial(t.Context(), config(t, address, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := l.Open(t.Context(), config(t, address, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.(driver.Writer).Write(t.Context(), "supply_setpoint", point.FloatOf(500)); fault.KindOf(err) != fault.Rejected {
		t.Errorf("500 degC gave %v, want the kind rejected", err)
	}
	absent, err := l.Open(t.Context(), config(t, address, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := absent.Read(t.Context(), []string{"model"}); fault.KindOf(err) != fault.Unreachable || errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("an absent unit gave %v, want unreachable on a line that lives", err)
	}
}

func TestTheWaterFollowsTheSetPoint(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	b := newBoiler(1, 1, now)
	words := make([]uint16, 2)
	putFloat32(words, 90)
	b.change(now, func() {
		if err := b.write(holdingSetpoint, words); err != nil {
			t.Fatal(err)
		}
	})
	if at := b.supply(now); at < 53 || at > 57 {
		t.Errorf("the water jumped to %v", at)
	}
	if later := b.supply(now.Add(time.Hour)); later < 89 || later > 91 {
		t.Errorf("an hour later the water has %v, want about 90", later)
	}
	b.change(now.Add(time.Hour), func() { b.coils[coilEnable] = false })
	if cold := b.supply(now.Add(3 * time.Hour)); cold > ambient+1 || b.fire(now.Add(3*time.Hour)) != 0 {
		t.Errorf("switched off it has %v with a fire of %v", cold, b.fire(now.Add(3*time.Hour)))
	}
	if a, z := b.used(now.Add(time.Hour)), b.used(now.Add(9*time.Hour)); a != z || a <= 1000 {
		t.Errorf("the energy went from %v to %v while it was off", a, z)
	}
}

func TestServeSaysWhyItCannot(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		address, want string
		units         int
	}{
		"the port is taken":      {taken.Addr().String(), "address already in use", 1},
		"there is no port":       {"127.0.0.1", "missing port", 1},
		"there are too many":     {"127.0.0.1:0", "at most 247", 248},
		"the address is foreign": {"192.0.2.1:0", "cannot assign", 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := Serve(t.Context(), c.address, Config{Units: c.units})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestMbpollReadsTheFarm has a client that nobody here wrote look at the server.
func TestMbpollReadsTheFarm(t *testing.T) {
	program, err := exec.LookPath("mbpoll")
	if err != nil {
		t.Skip("mbpoll is not installed: apt-get install mbpoll")
	}
	host, port, err := net.SplitHostPort(serve(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"float set point":        {[]string{"-t", "4:float", "-B", "-r", "0", "-c", "1"}, "[0]: \t70"},
		"unit of the second one": {[]string{"-t", "4", "-r", "30", "-c", "1"}, "[30]: \t2"},
		"coils":                  {[]string{"-t", "0", "-r", "0", "-c", "2"}, "[1]: \t1"},
		"pump running":           {[]string{"-t", "1", "-r", "2", "-c", "1"}, "[2]: \t1"},
		"a gap":                  {[]string{"-t", "3", "-r", "12", "-c", "1"}, "Illegal data address"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-m", "tcp", "-p", port, "-a", "2", "-0", "-1"}, append(c.args, host)...)
			out, _ := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
			if !strings.Contains(string(out), c.want) {
				t.Errorf("mbpoll %s printed\n%s\nwant %q", strings.Join(args, " "), out, c.want)
			}
		})
	}
}
