package opcua_test

import (
	"errors"
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
	t.Parallel()
	first := peers.OPCUA(t)
	_, s := opened(t, plant(t, first.Addr, nil))
	news := subscribed(t, s, "Temperature")
	sub, is := s.(driver.Subscriber)
	if !is {
		t.Fatal("no subscriber")
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
	_, by := opened(t, plant(t, second.Addr, func(c *opcua.Config) {
		c.Registry.Entries = []pointlist.Entry{{Name: "Label", Node: "ns=2;s=Label"}}
	}))
	if got := one(t, by, "Label"); got.Quality != point.BadConfig {
		t.Errorf("by the old index the node is %v, want bad(config)", got.Quality)
	}
}

// readsByIndex reads nodes whose namespace is given by its index, which may be that of another, or by a URI that the server does not have.
func readsByIndex(t *testing.T, peer *peers.Process) {
	index := plant(t, peer.Addr, func(c *opcua.Config) {
		c.Registry.Entries = []pointlist.Entry{{Name: "Label", Node: "ns=77;s=Label"}, {Name: "lost", Node: "nsu=urn:gone;s=Label"}}
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

func TestASecuredServerOfAsyncua(t *testing.T) {
	t.Parallel()
	server, own := certificate(t, time.Hour), certificate(t, time.Hour)
	peer := peers.OPCUA(t, "--certificate", server.cert, "--key", server.key, "--user")
	secured := func(policy, mode string) func(c *opcua.Config) {
		return func(c *opcua.Config) {
			c.Security, c.Mode, c.Fingerprint, c.Certificate, c.Key = policy, mode, server.fingerprint, own.cert, own.key
			c.User, c.PasswordFile = "operator", password(t, "secret")
		}
	}
	everySecurity(t, peer, secured)
	t.Run("a certificate is made once for the node", func(t *testing.T) { makesOneCertificate(t, peer, secured("best", "encrypt")) })
	t.Run("a stranger and a wrong password are told", func(t *testing.T) { tellsStrangers(t, peer, secured("best", "encrypt")) })
}

func TestTheCertificateOfAServerIsJudgedInOneSentence(t *testing.T) {
	t.Parallel()
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

func makesOneCertificate(t *testing.T, peer *peers.Process, secured func(*opcua.Config)) {
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
		line, err := kind.Dial(t.Context(), plant(t, peer.Addr, func(c *opcua.Config) {
			secured(c)
			c.Certificate, c.Key = "", ""
		}))
		if err != nil {
			t.Fatal(err)
		}
		_ = line.Close()
	}
	if made != 1 {
		t.Errorf("made %d certificates, want one", made)
	}
}

func tellsStrangers(t *testing.T, peer *peers.Process, secured func(*opcua.Config)) {
	for want, change := range map[string]func(*opcua.Config){
		"write user and password_file": func(c *opcua.Config) { c.User, c.PasswordFile = "", "" },
		"with this password":           func(c *opcua.Config) { c.PasswordFile = password(t, "guess") },
	} {
		line, err := opcua.Kind().Dial(t.Context(), plant(t, peer.Addr, func(c *opcua.Config) {
			secured(c)
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

func refusesAnotherType(t *testing.T, peer *peers.Process) {
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

func survivesASlowServer(t *testing.T, peer *peers.Process) {
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

func tellsStatusCodes(t *testing.T, peer *peers.Process) {
	_, s := opened(t, plant(t, peer.Addr, nil))
	news := subscribed(t, s, "Count")
	for code, want := range map[string]point.Quality{"0x80890000": point.BadDevice, "0x808C0000": point.BadSensor, "0x80310000": point.BadUnreachable} {
		peer.Say(t, "status Count "+code)
		awaited(t, s, news, func(sample point.Sample) bool { return sample.Quality == want })
	}
}

func makesARegistry(t *testing.T, peer *peers.Process) { surveys(t, plant(t, peer.Addr, nil)) }

// surveys browses the plant.
func surveys(t *testing.T, cfg driver.Config) {
	_, s := opened(t, cfg)
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
}
