package modbus

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// limit is the request time-out of these tests: long enough for a busy machine's pymodbus.
const limit = time.Second

// values is what modbus_server.py holds.
const values = `
- {name: t0, table: holding, address: 0, type: float32, unit: degC}
- {name: t1, table: holding, address: 2, type: float32}
- {name: t2, table: input, address: 4, type: float32}
- {name: precise, table: holding, address: 10, type: float64}
- {name: title, table: holding, address: 20, type: "string[10]"}
- {name: unit, table: holding, address: 30, type: uint16}
- {name: whole, table: holding, address: 40, type: int32}
- {name: int_abcd, table: holding, address: 50, type: int32, byte_order: ABCD}
- {name: int_badc, table: holding, address: 52, type: int32, byte_order: BADC}
- {name: int_cdab, table: holding, address: 54, type: int32, byte_order: CDAB}
- {name: int_dcba, table: holding, address: 56, type: int32, byte_order: DCBA}
- {name: dbl_abcd, table: holding, address: 60, type: float64, byte_order: ABCD}
- {name: dbl_badc, table: holding, address: 64, type: float64, byte_order: BADC}
- {name: dbl_cdab, table: holding, address: 68, type: float64, byte_order: CDAB}
- {name: dbl_dcba, table: holding, address: 72, type: float64, byte_order: DCBA}
- {name: huge, table: input, address: 80, type: uint64, scale: 0.5}
- {name: exact, table: input, address: 84, type: int64}
- {name: short, table: input, address: 88, type: int16}
- {name: tenths, table: input, address: 88, type: int16, transform: scale(0.1)}
- {name: word, table: holding, address: 89, type: uint16}
- {name: bit15, table: holding, address: 89, type: uint16, bit: 15}
- {name: bit3, table: holding, address: 89, type: bool, bit: 3}
- {name: nibble, table: holding, address: 89, type: uint16, bit: 4-7}
- {name: big, table: holding, address: 90, type: uint32}
- {name: coil0, table: coil, address: 0, type: bool}
- {name: coil1, table: coil, address: 1, type: bool}
- {name: in31, table: discrete, address: 31, type: bool}
- {name: setpoint, table: holding, address: 100, type: float32, writable: true}
- {name: missing, table: holding, address: 45, type: uint16, writable: true}
`

// wanted are the values that values must give.
func wanted(unit int64) map[string]point.Value {
	f, i, b := point.FloatOf, point.IntOf, point.BoolOf
	return map[string]point.Value{
		"t0": f(21.5), "t1": f(-40.25), "t2": f(1013.25), "precise": f(-123456.789),
		"title": point.TextOf("Voltbus"), "unit": i(unit), "whole": i(-123456),
		"int_abcd": i(-123456), "int_badc": i(-123456), "int_cdab": i(-123456), "int_dcba": i(-123456),
		"dbl_abcd": f(2.5), "dbl_badc": f(2.5), "dbl_cdab": f(2.5), "dbl_dcba": f(2.5),
		"huge": f(math.MaxUint64 / 2), "exact": i(-9007199254740993), "short": i(-5), "tenths": f(-0.5),
		"word": i(0xA5C3), "bit15": b(true), "bit3": b(false), "nibble": i(0xC), "big": i(4000000000),
		"coil0": b(false), "coil1": b(true), "in31": b(true),
	}
}

// configOf makes a configuration for a registry in YAML.
func configOf(t *testing.T, transport, address string, unit int, registry string) *Config {
	t.Helper()
	c := NewConfig()
	c.Transport, c.Address, c.Unit, c.Timeout = transport, address, unit, limit
	if err := yaml.Unmarshal([]byte(registry), &c.Registry); err != nil {
		t.Fatalf("read the registry: %v", err)
	}
	if problems := append(c.Load(folder.Any(t.TempDir())), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", errors.Join(problems...))
	}
	return c
}

func TestDriverConformsAgainstPymodbus(t *testing.T) {
	for _, transport := range []string{transportTCP, transportRTT} {
		t.Run("over "+transport, func(t *testing.T) {
			framer := map[string]string{transportTCP: "tcp", transportRTT: "rtu"}[transport]
			peer := peers.Modbus(t, "--framer", framer)
			device := func(unit int) func(*testing.T, string) driver.Config {
				return func(t *testing.T, address string) driver.Config {
					t.Helper()
					return configOf(t, transport, address, unit, values)
				}
			}
			drivertest.Run(t, drivertest.Harness{
				Kind: Kind(), Peer: peer.Addr, Timeout: limit, Config: device(1), Want: wanted(1),
				Bad: map[string]point.Quality{"missing": point.BadConfig},
				Other: func(t *testing.T, address string) driver.Config {
					t.Helper()
					return configOf(t, transport, address, 2, "[{name: unit, address: 30, type: uint16}]")
				},
				Silent:   device(7),
				Absent:   func(t *testing.T) driver.Config { t.Helper(); return configOf(t, transport, closedPort(t), 1, values) },
				Writable: "setpoint", Value: point.FloatOf(19.5), ReadOnly: "t0", TooMuch: point.FloatOf(1e39), Denied: "missing",
			})
		})
	}
}

// closedPort returns an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// connect opens a line and a session on it, until the test ends.
func connect(t *testing.T, c *Config) (driver.Line, *session) {
	t.Helper()
	l, err := Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, openOn(t, l, c)
}

func openOn(t *testing.T, l driver.Line, c *Config) *session {
	t.Helper()
	s, err := l.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s.(*session)
}

// readAll reads all points and returns the good values, and the qualities of the rest.
func readAll(t *testing.T, s *session) (map[string]point.Value, map[string]point.Quality) {
	t.Helper()
	names := make([]string, len(s.registers))
	for i := range s.registers {
		names[i] = s.registers[i].name
	}
	samples, err := s.Read(t.Context(), names)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	good, bad := make(map[string]point.Value), make(map[string]point.Quality)
	for _, sample := range samples {
		if sample.Quality.IsGood() {
			good[string(sample.Point)] = sample.Value
		} else {
			bad[string(sample.Point)] = sample.Quality
		}
	}
	return good, bad
}

var compareValues = cmp.Comparer(func(a, b point.Value) bool { return a == b })

func TestRTUOverASerialLineReadsSeveralUnitsAndWrites(t *testing.T) {
	near, far, _ := peers.SerialLine(t)
	peers.Modbus(t, "--serial", far)
	config := configOf(t, transportRTU, near, 1, values)
	l, s := connect(t, config)

	good, bad := readAll(t, s)
	delete(good, "setpoint")
	if diff := cmp.Diff(wanted(1), good, compareValues); diff != "" {
		t.Errorf("unit 1 differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]point.Quality{"missing": point.BadConfig}, bad); diff != "" {
		t.Errorf("bad points differ (-want +got):\n%s", diff)
	}
	for unit := int64(2); unit <= 3; unit++ {
		good, _ := readAll(t, openOn(t, l, configOf(t, transportRTU, near, int(unit), values)))
		if got := good["unit"]; got != point.IntOf(unit) {
			t.Errorf("unit %d says that it is %v", unit, got)
		}
	}
	if got, err := s.Write(t.Context(), "setpoint", point.FloatOf(21.25)); err != nil || got != point.FloatOf(21.25) {
		t.Errorf("write over the serial line gave %v, %v", got, err)
	}
	wide := openOn(t, l, configOf(t, transportRTU, near, 1, block(300, 125)))
	if good, bad := readAll(t, wide); len(good) != 125 || len(wide.requests) != 1 {
		t.Errorf("got %d of 125 registers in %d requests, bad: %v", len(good), len(wide.requests), bad)
	}
}

func TestASilentUnitOnASerialLineLeavesTheOthersAlone(t *testing.T) {
	near, far, _ := peers.SerialLine(t)
	peers.Modbus(t, "--serial", far)
	one := "[{name: unit, address: 30, type: uint16}]"
	l, s := connect(t, configOf(t, transportRTU, near, 1, one))
	silent := openOn(t, l, configOf(t, transportRTU, near, 7, one))
	for range silences + 1 {
		if _, err := silent.Read(t.Context(), []string{"unit"}); fault.KindOf(err) != fault.Timeout || errors.Is(err, driver.ErrNotConnected) {
			t.Fatalf("the silent unit gave %v, want a time-out while the line lives", err)
		}
		if good, bad := readAll(t, s); good["unit"] != point.IntOf(1) {
			t.Fatalf("the other unit gave %v, %v, want 1", good, bad)
		}
	}
}

func TestACutSerialLineIsNotConnected(t *testing.T) {
	near, far, cut := peers.SerialLine(t)
	peers.Modbus(t, "--serial", far)
	_, s := connect(t, configOf(t, transportRTU, near, 1, values))
	readAll(t, s)
	cut()
	if _, err := s.Read(t.Context(), []string{"t0"}); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v, want ErrNotConnected", err)
	}
}

func TestDialSaysWhatToDoAboutASerialPort(t *testing.T) {
	_, err := Kind().Dial(t.Context(), configOf(t, transportRTU, "/dev/voltbus-no-such-port", 1, values))
	if !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "check the name of the serial port") {
		t.Errorf("got %v, want ErrNotConnected and the advice to check the name", err)
	}
}

// block is a registry of n registers from an address on.
func block(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- {name: r%d, table: holding, address: %d, type: uint16, writable: true}\n", first+i, first+i)
	}
	return b.String()
}

func TestPymodbus(t *testing.T) {
	peer := peers.Modbus(t)

	t.Run("125 registers take one request, 126 two", func(t *testing.T) {
		for n, requests := range map[int]int{125: 1, 126: 2, 400: 4} {
			_, s := connect(t, configOf(t, transportTCP, peer.Addr, 1, block(300, n)))
			good, bad := readAll(t, s)
			if len(bad) > 0 || len(s.requests) != requests {
				t.Errorf("%d registers took %d requests, want %d; bad: %v", n, len(s.requests), requests, bad)
			}
			for i := range n {
				if got := good[fmt.Sprintf("r%d", 300+i)]; got != point.IntOf(int64(300+i)) {
					t.Fatalf("register %d holds %v", 300+i, got)
				}
			}
		}
	})

	t.Run("a gap is found by bisection once and remembered", func(t *testing.T) {
		c := configOf(t, transportTCP, peer.Addr, 1, block(36, 14)) // 40 and 41 exist
		_, s := connect(t, c)
		for scan := range 3 {
			good, bad := readAll(t, s)
			if len(good) != 2 || len(bad) != 12 {
				t.Fatalf("scan %d gave %d good and %d bad points, want 2 and 12", scan, len(good), len(bad))
			}
			if scan > 0 && len(s.requests) > 2 {
				t.Errorf("scan %d sends %d requests, want at most one for each good register", scan, len(s.requests))
			}
		}
	})

	t.Run("registers with a gap between are read together when max_gap allows it and the device does", func(t *testing.T) {
		c := configOf(t, transportTCP, peer.Addr, 1, "[{name: a, table: holding, address: 300, type: uint16}, {name: b, table: holding, address: 310, type: uint16}, {name: c, table: holding, address: 40, type: int32}, {name: d, table: holding, address: 50, type: int32}]")
		c.MaxGap = 10
		_, s := connect(t, c)
		for range 2 {
			if good, bad := readAll(t, s); len(good) != 4 {
				t.Fatalf("good %v, bad %v; want all good", good, bad)
			}
		}
		if len(s.requests) != 3 {
			t.Errorf("sends %d requests, want 3: a with b, and c and d apart as the device has a gap there", len(s.requests))
		}
	})

	t.Run("an absent unit fails alone, on a line that lives", func(t *testing.T) {
		l, s := connect(t, configOf(t, transportTCP, peer.Addr, 1, values))
		absent := openOn(t, l, configOf(t, transportTCP, peer.Addr, 9, values))
		for range 2 {
			if _, err := absent.Read(t.Context(), []string{"t0", "word"}); fault.KindOf(err) != fault.Rejected || errors.Is(err, driver.ErrNotConnected) {
				t.Errorf("the absent unit gave %v, want rejected without ErrNotConnected", err)
			}
			if good, _ := readAll(t, s); good["unit"] != point.IntOf(1) {
				t.Errorf("unit 1 gave %v", good["unit"])
			}
		}
	})

	t.Run("a unit without a table gives bad points there and good ones elsewhere", func(t *testing.T) {
		_, s := connect(t, configOf(t, transportTCP, peer.Addr, 4, "[{name: unit, table: holding, address: 30, type: uint16}, {name: far, table: coil, address: 60000, type: bool}]"))
		good, bad := readAll(t, s)
		if good["unit"] != point.IntOf(4) || bad["far"] != point.BadConfig {
			t.Errorf("got %v and %v", good, bad)
		}
	})

	t.Run("every function writes", func(t *testing.T) { writesEverything(t, peer.Addr) })

	t.Run("a device that comes back on the same address is read again", func(t *testing.T) {
		peer := peers.Modbus(t, "--port", peers.FreePort(t))
		c := configOf(t, transportTCP, peer.Addr, 1, values)
		_, s := connect(t, c)
		readAll(t, s)
		peer.Kill()
		if _, err := s.Read(t.Context(), []string{"t0"}); !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("with the peer killed got %v, want ErrNotConnected", err)
		}
		if _, err := Kind().Dial(t.Context(), c); !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("dial with the peer away gave %v, want ErrNotConnected", err)
		}
		peers.Modbus(t, "--port", peer.Port())
		_, s = connect(t, c)
		if good, _ := readAll(t, s); good["t0"] != point.FloatOf(21.5) {
			t.Errorf("after the restart t0 is %v", good["t0"])
		}
	})
}

const writables = `
- {name: coil, table: coil, address: 6, type: bool, writable: true}
- {name: word, table: holding, address: 110, type: uint16, writable: true}
- {name: bit, table: holding, address: 110, type: uint16, bit: 9, writable: true}
- {name: nibble, table: holding, address: 110, type: uint16, bit: 4-7, writable: true}
- {name: signed, table: holding, address: 111, type: int16, writable: true}
- {name: scaled, table: holding, address: 112, type: int16, transform: scale(0.1), writable: true}
- {name: dword, table: holding, address: 114, type: uint32, byte_order: CDAB, writable: true}
- {name: float, table: holding, address: 116, type: float32, byte_order: DCBA, writable: true}
- {name: double, table: holding, address: 118, type: float64, byte_order: BADC, writable: true}
- {name: text, table: holding, address: 122, type: "string[9]", writable: true}
- {name: flag, table: holding, address: 128, type: bool, writable: true}
- {name: factor, table: holding, address: 129, type: uint16, writable: true}
- {name: by_factor, table: holding, address: 130, type: int32, transform: scale_reg(factor), writable: true}
`

func writesEverything(t *testing.T, address string) {
	yes, no := true, false
	for name, multiple := range map[string]*bool{"unset": nil, "true": &yes, "false": &no} {
		t.Run("with write_multiple "+name, func(t *testing.T) {
			c := configOf(t, transportTCP, address, 1, writables)
			c.WriteMultiple = multiple
			_, s := connect(t, c)
			for _, w := range []struct {
				name string
				v    point.Value
			}{
				{"coil", point.BoolOf(true)},
				{"coil", point.BoolOf(false)},
				{"word", point.IntOf(0xFFFF)},
				{"bit", point.BoolOf(false)},
				{"nibble", point.IntOf(5)},
				{"signed", point.IntOf(-32768)},
				{"scaled", point.FloatOf(-12.3)},
				{"dword", point.IntOf(4294967295)},
				{"float", point.FloatOf(-0.75)},
				{"double", point.FloatOf(math.Pi)},
				{"text", point.TextOf("Zürich ☃"[:8])},
				{"flag", point.BoolOf(true)},
				{"factor", point.IntOf(4)},
				{"by_factor", point.FloatOf(2.5)},
			} {
				if got, err := s.Write(t.Context(), w.name, w.v); err != nil || got != w.v {
					if w.name != "text" || err != nil {
						t.Errorf("write %v to %s gave %v, %v", w.v, w.name, got, err)
					}
				}
			}
			good, bad := readAll(t, s)
			if len(bad) > 0 || good["word"] != point.IntOf(0xFD5F) {
				t.Errorf("the word is %v after its bits were written, want 0xFD5F; bad: %v", good["word"], bad)
			}
			for name, v := range map[string]point.Value{
				"signed": point.IntOf(40000), "nibble": point.IntOf(16), "coil": point.IntOf(2), "text": point.TextOf("much too long"),
				"float": point.FloatOf(1e300), "scaled": point.FloatOf(3276.8), "by_factor": point.FloatOf(math.Inf(1)), "dword": point.FloatOf(0.5), "double": point.TextOf("warm"), "bit": point.TextOf("on"),
			} {
				if _, err := s.Write(t.Context(), name, v); fault.KindOf(err) != fault.Invalid {
					t.Errorf("writing %v to %s gave %v, want the kind invalid", v, name, err)
				}
			}
		})
	}
	_, s := connect(t, configOf(t, transportTCP, address, 1, "[{name: hole, table: holding, address: 45, type: uint16, writable: true}]"))
	if _, err := s.Write(t.Context(), "hole", point.IntOf(1)); fault.KindOf(err) != fault.Rejected {
		t.Errorf("writing a register that the device has not gave %v, want the kind rejected", err)
	}
	c := configOf(t, transportTCP, address, 1, "[{name: edge, table: holding, address: 41, type: uint32, writable: true}]")
	c.WriteMultiple = &no
	_, s = connect(t, c)
	if _, err := s.Write(t.Context(), "edge", point.IntOf(1)); fault.KindOf(err) != fault.Rejected || !errors.Is(err, driver.ErrPartial) || !strings.Contains(err.Error(), "only the first 1 of 2 registers") {
		t.Errorf("a value of which the device took half gave %v, want the refusal of the device, and that it took a part", err)
	}
}
