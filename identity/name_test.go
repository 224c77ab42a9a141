package identity_test

import (
	"net"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/identity/pki"
)

func TestLocalNamesAreTheHostNameAndTheAddressesOfInterfaces(t *testing.T) {
	names := pki.LocalNames()
	host, err := os.Hostname()
	must(t, err)
	if !slices.Contains(names, host) {
		t.Errorf("%q is not in %q", host, names)
	}
	interfaces, err := net.Interfaces()
	must(t, err)
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		must(t, err)
		for _, a := range addresses {
			ip := a.(*net.IPNet).IP
			if slices.Contains(names, ip.String()) == ip.IsLinkLocalUnicast() {
				t.Errorf("%s of %s: link-local %v, in %q", ip, i.Name, ip.IsLinkLocalUnicast(), names)
			}
		}
	}
}

func TestNamesStandInTheCertificateAsWhatTheyAre(t *testing.T) {
	h := newHand()
	more := []string{
		"voltbus.example", "my_host", "192.0.2.7", "::ffff:192.0.2.8", "2001:DB8:0:0::7", "192.0.2.7",
		"not a name", "a..b", "-a", ".", "", "fe80::1%eth0", "a*b",
	}
	certs, err := pki.Open(t.TempDir(), "plant-7", more, h.now)
	must(t, err)
	config := certs.ClientConfig()
	config.ServerName, config.Time = "localhost", h.now
	cert, err := handshake(t, certs, config)
	must(t, err)
	host, err := os.Hostname()
	must(t, err)
	hosts := []string{"localhost", "my_host", "plant-7", "voltbus.example", host}
	slices.Sort(hosts)
	if d := cmp.Diff(hosts, cert.DNSNames); d != "" {
		t.Error("host names:", d)
	}
	var addresses []string
	for _, ip := range cert.IPAddresses {
		addresses = append(addresses, ip.String())
	}
	if d := cmp.Diff([]string{"127.0.0.1", "192.0.2.7", "192.0.2.8", "2001:db8::7", "::1"}, addresses); d != "" {
		t.Error("addresses:", d)
	}
}

func TestOtherNamesRenewTheServerCertificateOnly(t *testing.T) {
	tests := []struct {
		name          string
		before, after []string
		renewed       bool
	}{
		{"a further address", nil, []string{"192.0.2.7"}, true},
		{"a further host name", []string{"192.0.2.7"}, []string{"192.0.2.7", "voltbus.example"}, true},
		{"a name less", []string{"192.0.2.7"}, nil, true},
		{"the same in another order and another form", []string{"2001:db8::7", "192.0.2.7"}, []string{"192.0.2.7", "2001:DB8::7", "192.0.2.7"}, false},
		{"a name that cannot be one", nil, []string{"a..b", "not a name"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, h := t.TempDir(), newHand()
			first, err := pki.Open(dir, "n", tt.before, h.now)
			must(t, err)
			config := first.ClientConfig()
			config.ServerName, config.Time = "localhost", h.now
			before, err := handshake(t, first, config)
			must(t, err)
			second, err := pki.Open(dir, "n", tt.after, h.now)
			must(t, err)
			after, err := handshake(t, second, config) // trusts the authority of before
			must(t, err)
			if renewed := !before.Equal(after); renewed != tt.renewed {
				t.Errorf("server certificate renewed: %v, want %v", renewed, tt.renewed)
			}
			if first.Fingerprint() != second.Fingerprint() {
				t.Error("the authority was renewed")
			}
		})
	}
}
