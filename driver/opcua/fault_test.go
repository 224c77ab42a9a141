package opcua_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/driver/opcua"
	"voltbus/driver/opcua/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/testing/peers"
)

// opened is an open device.
func opened(t *testing.T, cfg driver.Config) (driver.Line, driver.Session) {
	t.Helper()
	line, err := opcua.Kind().Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := line.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = line.Close()
	})
	return line, s
}

// one reads a point.
func one(t *testing.T, s driver.Session, name string) point.Sample {
	t.Helper()
	samples, err := s.Read(t.Context(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return samples[0]
}

func TestAServerThatComesBackWithOtherIndicesIsReadByItsNamespaces(t *testing.T) {
	first := peers.OPCUA(t)
	_, s := opened(t, plant(t, first.Addr, nil))
	sub, is := s.(driver.Subscriber)
	if !is {
		t.Fatal("no subscriber")
	}
	news := make(chan struct{}, 1)
	if err := sub.Subscribe(t.Context(), []string{"Temperature"}, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	first.Kill()
	for {
		<-news
		if err := sub.Take(t.Context(), func(point.Sample) {}); err != nil {
			if !errors.Is(err, driver.ErrNotConnected) {
				t.Errorf("got %v, want ErrNotConnected", err)
			}
			break
		}
	}
	second := peers.OPCUA(t, "--port", first.Port(), "--shift")
	_, again := opened(t, plant(t, second.Addr, nil))
	if got := one(t, again, "Label"); got.Value != point.TextOf("north") {
		t.Errorf("got %v, want the value of the node in the other index", got)
	}
	index := plant(t, second.Addr, func(c *opcua.Config) {
		c.Registry.Entries = []pointlist.Entry{{Name: "Label", Node: "ns=2;s=Label"}, {Name: "lost", Node: "nsu=urn:gone;s=Label"}}
	})
	_, by := opened(t, index)
	for _, name := range []string{"Label", "lost"} {
		if got := one(t, by, name); got.Quality != point.BadConfig {
			t.Errorf("%s is %v, want bad(config)", name, got.Quality)
		}
	}
	d, is := by.(driver.Diagnoser)
	if !is || d.Diagnose() == nil || !strings.Contains(d.Diagnose().Error(), `"urn:plant"`) {
		t.Errorf("the diagnosis does not say which namespaces there are")
	}
}

func TestTheCertificateOfAServerIsJudgedInOneSentence(t *testing.T) {
	server, other, old := certificate(t, time.Hour), certificate(t, time.Hour), certificate(t, -time.Minute)
	peer := peers.OPCUA(t, "--certificate", server.cert, "--key", server.key)
	expired := peers.OPCUA(t, "--certificate", old.cert, "--key", old.key)
	for name, c := range map[string]struct {
		peer   *peers.Process
		change func(*opcua.Config)
		want   string
	}{
		"nothing is known":     {peer, func(*opcua.Config) {}, "then write fingerprint: " + server.fingerprint},
		"another fingerprint":  {peer, func(c *opcua.Config) { c.Fingerprint = other.fingerprint }, "another than the one with the configured fingerprint"},
		"another authority":    {peer, func(c *opcua.Config) { c.Trust = other.cert }, "neither in the file trust"},
		"expired":              {expired, func(c *opcua.Config) { c.Fingerprint = old.fingerprint }, "has expired on"},
		"no certificate of us": {peer, func(c *opcua.Config) { c.Fingerprint, c.Certificate, c.Key = server.fingerprint, "", "" }, "there is no certificate to show"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := plant(t, c.peer.Addr, func(k *opcua.Config) {
				k.Security, k.Certificate, k.Key = "best", other.cert, other.key
				c.change(k)
			})
			line, err := opcua.Kind().Dial(t.Context(), cfg)
			if err == nil {
				_ = line.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, driver.ErrNotConnected) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
	opened(t, plant(t, peer.Addr, func(c *opcua.Config) {
		c.Security, c.Trust, c.Certificate, c.Key = "best", server.cert, other.cert, other.key
	}))
	opened(t, plant(t, expired.Addr, func(c *opcua.Config) {
		c.Security, c.Fingerprint, c.AcceptExpired, c.Certificate, c.Key = "best", old.fingerprint, true, other.cert, other.key
	}))
}

func TestACertificateIsMadeOnceForTheNode(t *testing.T) {
	server := certificate(t, time.Hour)
	peer := peers.OPCUA(t, "--certificate", server.cert, "--key", server.key)
	var kept []byte
	made := 0
	keep := func(_ string, create func() ([]byte, error)) (data []byte, err error) {
		if kept == nil {
			made++
			kept, err = create()
		}
		return kept, err
	}
	kind := driver.Kept([]driver.Kind{opcua.Kind()}, keep)[0]
	for range 2 {
		line, err := kind.Dial(t.Context(), plant(t, peer.Addr, func(c *opcua.Config) { c.Security, c.Fingerprint = "best", server.fingerprint }))
		if err != nil {
			t.Fatal(err)
		}
		_ = line.Close()
	}
	if made != 1 {
		t.Errorf("made %d certificates, want one", made)
	}
}

func TestAStrangerAndAWrongPasswordAreTold(t *testing.T) {
	server := certificate(t, time.Hour)
	peer := peers.OPCUA(t, "--certificate", server.cert, "--key", server.key, "--user")
	wrong := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(wrong, []byte("guess"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*opcua.Config){
		"write user and password_file": func(*opcua.Config) {},
		"with this password":           func(c *opcua.Config) { c.User, c.PasswordFile = "operator", wrong },
	} {
		line, err := opcua.Kind().Dial(t.Context(), plant(t, peer.Addr, func(c *opcua.Config) {
			c.Security, c.Fingerprint, c.Certificate, c.Key = "best", server.fingerprint, server.cert, server.key
			change(c)
		}))
		if err == nil {
			_ = line.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}

func TestAValueOfAnotherTypeIsRefusedAndRead(t *testing.T) {
	peer := peers.OPCUA(t)
	cfg := plant(t, peer.Addr, func(c *opcua.Config) {
		c.Registry.Entries = append(c.Registry.Entries, pointlist.Entry{Name: "Wrong", Node: "nsu=urn:plant;s=Wrong", Type: "float", Writable: "true"})
	})
	_, s := opened(t, cfg)
	if got := one(t, s, "Wrong"); got.Quality != point.BadConfig || got.Value.Kind() != point.None {
		t.Errorf("text in a point of numbers is %v", got)
	}
	w, is := s.(driver.Writer)
	if !is {
		t.Fatal("no writer")
	}
	if _, err := w.Write(t.Context(), "Wrong", point.FloatOf(1)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a number for text gives %v, want the kind invalid", err)
	}
	if _, err := w.Write(t.Context(), "Mode", point.TextOf("Reverse")); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown state gives %v, want the kind invalid", err)
	}
	if got, err := w.Write(t.Context(), "Mode", point.TextOf("hand")); err != nil || got != point.TextOf("Hand") {
		t.Errorf("got %v, %v, want the state", got, err)
	}
	if _, err := w.Write(t.Context(), "Locked", point.IntOf(2)); err == nil || !strings.Contains(err.Error(), "BadNotWritable") && !strings.Contains(err.Error(), "no right") {
		t.Errorf("got %v, want the reason of the server", err)
	}
}

func TestASlowServerIsReadWhenItAnswersAgain(t *testing.T) {
	peer := peers.OPCUA(t)
	proxy := drivertest.NewProxy(t, peer.Addr)
	defer proxy.Close()
	_, s := opened(t, plant(t, proxy.Addr(), nil))
	proxy.Delay(2 * timeout)
	_, err := s.Read(t.Context(), []string{"Label"})
	if fault.KindOf(err) != fault.Timeout || errors.Is(err, driver.ErrNotConnected) {
		t.Fatalf("got %v, want a time-out of one request", err)
	}
	proxy.Heal()
	if got := one(t, s, "Label"); got.Value != point.TextOf("north") {
		t.Errorf("got %v", got)
	}
}

func TestStatusCodesBecomeQualities(t *testing.T) {
	peer := peers.OPCUA(t)
	_, s := opened(t, plant(t, peer.Addr, nil))
	sub, is := s.(driver.Subscriber)
	if !is {
		t.Fatal("no subscriber")
	}
	news := make(chan struct{}, 1)
	if err := sub.Subscribe(t.Context(), []string{"Count"}, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]point.Quality{"0x80890000": point.BadDevice, "0x808C0000": point.BadSensor, "0x80310000": point.BadUnreachable} {
		peer.Say(t, "status Count "+code)
		for got := point.Good; got != want; {
			<-news
			if err := sub.Take(t.Context(), func(sample point.Sample) { got = sample.Quality }); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheVariablesOfAServerBecomeARegistry(t *testing.T) {
	for name, start := range map[string]func() *peers.Process{
		"asyncua":    func() *peers.Process { return peers.OPCUA(t) },
		"node-opcua": func() *peers.Process { return peers.NodeOPCUA(t, "--certificates", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			_, s := opened(t, plant(t, start().Addr, nil))
			d, is := s.(driver.Discoverer)
			if !is {
				t.Fatal("no discoverer")
			}
			found, err := d.Discover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			entries := make(map[string]map[string]string)
			for i := range found {
				entries[found[i].Entry["name"]] = found[i].Entry
			}
			for point, want := range map[string]map[string]string{
				"Plant/Temperature": {"node": "nsu=urn:plant;s=Temperature", "unit": "degC", "type": "float"},
				"Plant/Small":       {"type": "int", "writable": "true"},
				"Plant/Levels/2":    {"element": "2", "type": "float"},
				"Plant/Mode":        {"states": "Off|Auto|Hand", "type": "int"},
				"Plant/Running":     {"type": "bool"},
			} {
				for column, text := range want {
					if entries[point] == nil || entries[point][column] != text {
						t.Errorf("%s has %v, want %s %q", point, entries[point], column, text)
					}
				}
			}
		})
	}
}
