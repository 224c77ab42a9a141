package dnp3

import (
	"reflect"
	"testing"
	"time"
)

// A device stays open through a reload if its configuration is deeply equal.
func TestASecuredConfigurationThatIsLoadedAgainIsTheSameUntilItsFilesChange(t *testing.T) {
	a := newAuthority(t)
	a.make(t, "node", false, time.Now().Add(time.Hour))
	load := func() *Config {
		return config(t, "127.0.0.1:1", few, func(c *Config) { c.TLS = a.tls("node", "relay") })
	}
	first := load()
	if !reflect.DeepEqual(first, load()) {
		t.Error("loaded again, the configuration is another")
	}
	if c := first.TLS.client("127.0.0.1:1"); c == nil || len(c.Certificates) != 1 || c.ServerName != "relay" {
		t.Errorf("it dials with %+v", c)
	}
	a.make(t, "node", false, time.Now().Add(2*time.Hour))
	if reflect.DeepEqual(first, load()) {
		t.Error("with a new certificate, the configuration is the same")
	}
}
