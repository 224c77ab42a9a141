package pki

import (
	"crypto/x509"
	"net"
	"os"
	"regexp"
	"slices"
)

// LocalNames returns the machine's host name and the addresses of its interfaces, sorted: names by which a
// node that listens beyond loopback may be reached. It omits link-local addresses, which mean nothing without
// an interface, and whatever the machine does not report.
func LocalNames() []string {
	var names []string
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		addresses = nil
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			names = append(names, n.IP.String())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const maxName = 253 // bytes of a host name

// dnsName is a host name; underscores are common in container networks.
var dnsName = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)

// serverNames lists the valid names of the server, sorted and unique. Names that are neither host names nor
// addresses are omitted: a node's name may be anything.
func serverNames(node string, more []string) []string {
	all := append([]string{"localhost", "127.0.0.1", "::1", node}, more...)
	if host, err := os.Hostname(); err == nil {
		all = append(all, host)
	}
	var names []string
	for _, n := range all {
		if ip := net.ParseIP(n); ip != nil {
			names = append(names, ip.String())
		} else if len(n) <= maxName && dnsName.MatchString(n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namesOf lists the names for which the certificate is valid, in the form of serverNames.
func namesOf(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
