package dnp3

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/point"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is the time-out for one answer in these tests; patience is how long they wait for what
// must come.
const (
	limit    = 500 * time.Millisecond
	patience = 30 * time.Second
)

// values is what the foreign outstation holds; it has four points of each type.
const values = `
- {name: breaker, type: binary_input, index: 0}
- {name: alarm, group: 1, variation: 2, index: 3}
- {name: isolator, type: double_bit_input, index: 1}
- {name: power, type: analog_input, index: 0, scale: 0.1, unit: kW}
- {name: voltage, group: 30, variation: 6, index: 2}
- {name: energy, type: counter, index: 1}
- {name: relay, type: binary_output, index: 1, writable: true}
- {name: setpoint, type: analog_output, index: 2, writable: true}
- {name: absent, type: analog_input, index: 40}
`

func wanted() map[string]point.Value {
	return map[string]point.Value{
		"breaker": point.BoolOf(true), "alarm": point.BoolOf(false), "isolator": point.IntOf(2), "power": point.FloatOf(123.4),
		"voltage": point.FloatOf(-20), "energy": point.IntOf(4_000_000_000),
	}
}

// fill gives the foreign outstation these values.
func fill(t *testing.T, peer *peers.DNP3) {
	t.Helper()
	for _, point := range []string{
		"binary 0 1", "binary 3 0", "double 1 2", "analog 0 1234", "analog 2 -20", "counter 1 4000000000",
		"binaryoutput 1 0", "analogoutput 2 5",
	} {
		peer.Do(t, "set %s 1", point)
	}
	peer.Do(t, "sync")
	peer.Await(t, "synced")
}

// config makes a configuration for a registry in YAML.
func config(t testing.TB, address, registry string, change ...func(*Config)) *Config {
	t.Helper()
	c := NewConfig()
	c.Address, c.Timeout, c.Retries = address, limit, 3 // the peer misses a request that comes while it reports
	if err := yaml.Unmarshal([]byte(registry), &c.Registry); err != nil {
		t.Fatalf("read the registry: %v", err)
	}
	for _, f := range change {
		f(c)
	}
	if problems := append(c.Load(folder.Any(t.TempDir())), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", errors.Join(problems...))
	}
	return c
}

// foreign starts the foreign outstation and returns its address.
func foreign(t *testing.T) (*peers.DNP3, string) {
	t.Helper()
	peer, port := peers.StartDNP3(t), peers.FreePort(t)
	peer.Do(t, "outstation %s", port)
	peer.Await(t, "serving")
	fill(t, peer)
	return peer, net.JoinHostPort("127.0.0.1", port)
}

func closedPort(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", peers.FreePort(t))
}

func TestDriverConformsAgainstAForeignOutstation(t *testing.T) {
	peer, address := foreign(t)
	conforms(t, address, "", func(raw int) { peer.Do(t, "event analog 0 %d 1", raw) })
}

const absentOutput = "- {name: denied, type: analog_output, index: 41, writable: true}\n"

// conforms runs the conformance suite against an outstation that holds the values, and in which
// event gives analog input 0 another one. An analog output called denied is not there; it is written
// if the outstation says so plainly.
func conforms(t *testing.T, address, denied string, event func(raw int)) {
	t.Helper()
	raw := 5000
	device := func(outstation int) func(*testing.T, string) driver.Config {
		return func(t *testing.T, address string) driver.Config {
			t.Helper()
			return config(t, address, values+absentOutput, func(c *Config) { c.Outstation, c.Timeout, c.Retries, c.Unsolicited = outstation, limit/2, 1, nil })
		}
	}
	drivertest.Run(t, drivertest.Harness{
		Kind: Kind(), Peer: address, Timeout: limit, Config: device(10), Want: wanted(),
		Bad: map[string]point.Quality{"absent": point.BadConfig, "denied": point.BadConfig},
		Other: func(t *testing.T, address string) driver.Config {
			t.Helper()
			return config(t, address, "[{name: breaker, type: binary_input, index: 0}]")
		},
		Silent:    device(77),
		Absent:    func(t *testing.T) driver.Config { t.Helper(); return config(t, closedPort(t), values) },
		Reporting: func(t *testing.T, address string) driver.Config { t.Helper(); return config(t, address, values) },
		Report: func(*testing.T) (string, point.Value) {
			raw += 10
			event(raw)
			return "power", point.FloatOf(float64(raw) / 10)
		},
		Writable: "relay", Value: point.BoolOf(true), ReadOnly: "power", TooMuch: point.IntOf(2), Denied: denied,
	})
}

func TestPointsAreReadByRangesAlone(t *testing.T) {
	_, address := foreign(t)
	s := connect(t, config(t, address, values, func(c *Config) { c.Scan, c.Unsolicited, c.Retries = scanRanges, nil, 3 }))
	names := make([]string, len(s.items))
	for i := range s.items {
		names[i] = s.items[i].Name
	}
	for range 2 { // the second time the absent one is not asked for
		samples, err := s.Read(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		for i, sample := range samples {
			if want, fixed := wanted()[names[i]]; fixed && sample.Value != want {
				t.Errorf("%s is %v (%v), want %v", names[i], sample.Value, sample.Quality, want)
			}
			if (names[i] == "absent") != (sample.Quality == point.BadConfig) {
				t.Errorf("%s is %v", names[i], sample.Quality)
			}
		}
	}
}

// connect opens a line and a session on it, until the test ends.
func connect(t testing.TB, c *Config) *session {
	t.Helper()
	l, err := Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return openOn(t, l, c)
}

func openOn(t testing.TB, l driver.Line, c *Config) *session {
	t.Helper()
	s, err := l.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s.(*session)
}

// listen emits what a session reports until ctx ends, and then returns nil.
func listen(ctx context.Context, s *session, names []string, emit func(point.Sample)) error {
	news := make(chan struct{}, 1)
	err := s.Subscribe(ctx, names, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
			err = s.Take(ctx, emit)
		}
	}
	return err
}

// await listens until a report fits.
func await(t *testing.T, s *session, what string, fits func(point.Sample) bool) point.Sample {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var found *point.Sample
	var names []string
	for name := range s.byName {
		names = append(names, name)
	}
	for found == nil && ctx.Err() == nil {
		err := listen(ctx, s, names, func(p point.Sample) {
			if found == nil && fits(p) {
				found = &p
				cancel()
			}
		})
		if err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
	}
	if found == nil {
		t.Fatalf("%s never came", what)
	}
	return *found
}

func named(name string, q point.Quality) func(point.Sample) bool {
	return func(s point.Sample) bool { return string(s.Point) == name && s.Quality == q }
}

func TestEventsArriveWithTheirQuality(t *testing.T) {
	peer, address := foreign(t)
	s := connect(t, config(t, address, values))
	if got := await(t, s, "the first value", named("breaker", point.Good)); !got.Value.Bool() {
		t.Errorf("the breaker is %v", got.Value)
	}
	for flags, want := range map[string]point.Quality{
		"0x01": point.Good, "0x11": point.Override, "0x09": point.Substituted, "0x05": point.BadUnreachable,
		"0x03": point.BadStale, "0x00": point.BadDevice, "0x21": point.UncertainRange, "0x41": point.BadSensor,
	} {
		peer.Do(t, "event analog 0 50 %s", flags)
		got := await(t, s, "an event with the flags "+flags, named("power", want))
		if want.IsBad() != (got.Value.Kind() == point.None) {
			t.Errorf("flags %s: %v has the value %v", flags, got.Quality, got.Value)
		}
	}
}

func TestTheDevicesClockIsSetWhenItAsks(t *testing.T) {
	peer, address := foreign(t)
	peer.Do(t, "needtime on")
	peer.Do(t, "sync") // the start-up must find it
	peer.Await(t, "synced")
	connect(t, config(t, address, values, func(c *Config) { c.TimeSync = "lan" }))
	peer.Await(t, "time")
}

func TestARestartedDeviceIsReadAnew(t *testing.T) {
	peer, address := foreign(t)
	s := connect(t, config(t, address, values))
	await(t, s, "the first value", named("voltage", point.Good))
	peer.Do(t, "set analog 2 77 1")
	peer.Do(t, "restarted")
	peer.Do(t, "event binary 0 0 1") // brings the indication
	await(t, s, "the value read anew", func(p point.Sample) bool {
		return string(p.Point) == "voltage" && p.Value == point.FloatOf(77)
	})
}

func TestASubscriptionEndsWithTheLine(t *testing.T) {
	_, address := foreign(t)
	proxy := drivertest.NewProxy(t, address)
	s := connect(t, config(t, proxy.Addr(), values))
	await(t, s, "the first value", named("breaker", point.Good))
	proxy.Cut()
	err := listen(t.Context(), s, []string{"breaker"}, func(point.Sample) {})
	if !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v, want ErrNotConnected", err)
	}
}

func TestASilentDeviceThatIsOnlyListenedToIsNoticed(t *testing.T) {
	_, address := foreign(t)
	s := connect(t, config(t, address, values, func(c *Config) { c.Outstation = 77 }))
	if err := listen(t.Context(), s, []string{"breaker"}, func(point.Sample) {}); fault.KindOf(err) != fault.Timeout || errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v of kind %v, want a time-out on a living line", err, fault.KindOf(err))
	}
}

func TestCommandsAreGivenAsTheRegistrySays(t *testing.T) {
	peer, address := foreign(t)
	s := connect(t, config(t, address, `
- {name: sbo, type: binary_output, index: 0, writable: true}
- {name: direct, type: binary_output, index: 1, writable: true, operate: direct, control: trip_close, count: 2, on_time: 250ms}
- {name: pulse, type: binary_output, index: 2, writable: true, control: pulse}
- {name: int16, group: 40, variation: 2, index: 0, writable: true}
- {name: int32, group: 41, variation: 1, index: 1, writable: true, scale: 0.5}
- {name: float, type: analog_output, variation: 3, index: 2, writable: true}
- {name: double, type: analog_output, variation: 4, index: 3, writable: true, operate: direct}
- {name: refused, type: analog_output, index: 9, writable: true}
`))
	for _, c := range []struct {
		name  string
		value point.Value
		shown point.Value
		told  string
		kind  fault.Kind
	}{
		{"sbo", point.BoolOf(true), point.BoolOf(true), "binary 0 1", 0},
		{"sbo", point.IntOf(0), point.BoolOf(false), "binary 0 1", 0},
		{"direct", point.BoolOf(true), point.BoolOf(true), "binary 1 2", 0},
		{"direct", point.BoolOf(false), point.BoolOf(false), "binary 1 2", 0},
		{"pulse", point.BoolOf(true), point.BoolOf(true), "binary 2 1", 0},
		{"pulse", point.BoolOf(false), point.Value{}, "", fault.Invalid},
		{"int16", point.IntOf(-300), point.FloatOf(-300), "analog 0 -300", 0},
		{"int16", point.IntOf(40_000), point.Value{}, "", fault.Invalid},
		{"int32", point.FloatOf(500_000), point.FloatOf(500_000), "analog 1 1e+06", 0},
		{"float", point.FloatOf(1.5), point.FloatOf(1.5), "analog 2 1.5", 0},
		{"double", point.FloatOf(0.1), point.FloatOf(0.1), "analog 3 0.1", 0},
		{"double", point.TextOf("x"), point.Value{}, "", fault.Invalid},
		{"refused", point.FloatOf(1), point.Value{}, "", fault.Conflict},
	} {
		got, err := s.Write(t.Context(), c.name, c.value)
		if (c.told == "") != (err != nil) || err != nil && fault.KindOf(err) != c.kind || got != c.shown {
			t.Errorf("write %v to %s gives %v, %v (%v)", c.value, c.name, got, err, fault.KindOf(err))
			continue
		}
		if c.told != "" {
			if told := peer.Await(t, "command"); told != c.told {
				t.Errorf("write %v to %s: the device was told %q, want %q", c.value, c.name, told, c.told)
			}
		}
	}
}

// Of analog outputs this device shows whole numbers where it may choose, as in the answer to a read of all classes.
func TestAFractionIsReadWhereTheRegistryNamesAVariationThatHasIt(t *testing.T) {
	peer, address := foreign(t)
	peer.Do(t, "set analogoutput 1 77.9 1")
	peer.Do(t, "sync")
	peer.Await(t, "synced")
	s := connect(t, config(t, address, `
- {name: float, type: analog_output, variation: 3, index: 1, writable: true}
- {name: double, type: analog_output, variation: 4, index: 3, writable: true, operate: direct}
- {name: free, type: analog_output, index: 2}
`))
	if got, err := s.Write(t.Context(), "double", point.FloatOf(0.1)); err != nil || got != point.FloatOf(0.1) {
		t.Fatalf("written as %v, %v", got, err)
	}
	for range 3 {
		samples, err := s.Read(t.Context(), []string{"float", "double", "free"})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{float64(float32(77.9)), 0.1, 5} {
			if samples[i].Value != point.FloatOf(want) || !samples[i].Quality.IsGood() {
				t.Errorf("%s is %v, %v; want %v", samples[i].Point, samples[i].Value, samples[i].Quality, want)
			}
		}
	}
	told := 0
	if err := s.Take(t.Context(), func(sample point.Sample) {
		if sample.Value == point.FloatOf(0) || sample.Value == point.FloatOf(77) {
			told++
		}
	}); err != nil || told > 0 {
		t.Errorf("%d whole numbers are reported, %v", told, err)
	}
}
