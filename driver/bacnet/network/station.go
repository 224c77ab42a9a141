package network

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/sc"
)

// DefaultPort is the UDP port of BACnet/IP (ASHRAE 135 annex J.1.2).
const DefaultPort = 47808

// Station is where a device is, as far as somebody wrote it down. The zero value is a device that is found by its
// instance.
type Station struct {
	Link   netip.AddrPort // invalid: found by its instance
	Remote npdu.Address   // behind a router; Net without MAC: anywhere in that network
}

// ParseStation reads an IP address with or without a port or the address of a BACnet/SC node (02:1a:00:00:00:05), network:mac of a device behind a router, network:* for any
// device of that network, or both with a / between: 10.0.0.1/2001:12. A MAC is one number up to 255, or hexadecimal.
func ParseStation(text string) (s Station, err error) {
	link, remote, both := strings.Cut(text, "/")
	if !both && isRemote(text) {
		link, remote = "", text
	}
	if link != "" {
		if s.Link, err = parseLink(link); err != nil {
			return Station{}, err
		}
	}
	if remote != "" {
		s.Remote, err = parseRemote(remote)
	}
	if err == nil && s.Link.IsValid() && s.Remote.Net != 0 && s.Remote.MAC == "" {
		err = fmt.Errorf("%q names a router and no device; write network:mac behind the /", text)
	}
	return s, err
}

// parseLink reads an IP address, or the address of a node of BACnet/SC.
func parseLink(text string) (netip.AddrPort, error) {
	if v, err := sc.ParseVMAC(text); err == nil {
		return sc.Station(v), nil
	}
	return ParsePort(text)
}

// isRemote reports whether a text is network:mac rather than an IP address.
func isRemote(text string) bool {
	network, mac, found := strings.Cut(text, ":")
	_, err := strconv.ParseUint(network, 10, 16)
	_, node := sc.ParseVMAC(text)
	return found && err == nil && mac != "" && node != nil
}

// ParsePort reads an IPv4 address with or without a port.
func ParsePort(text string) (netip.AddrPort, error) {
	if at, err := netip.ParseAddrPort(text); err == nil && at.Addr().Is4() && at.Port() > 0 {
		return at, nil
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
		return netip.AddrPortFrom(a, DefaultPort), nil
	}
	return netip.AddrPort{}, fmt.Errorf("%q is no address; write an IPv4 address such as 10.0.0.11, with a port such as 10.0.0.11:47809 if it is not %d", text, DefaultPort)
}

func parseRemote(text string) (npdu.Address, error) {
	network, mac, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(network, 10, 16)
	if err != nil || n < 1 || n >= npdu.Global {
		return npdu.Address{}, fmt.Errorf("%q is no network; write its number from 1 to 65534 and the MAC of the device, such as 2001:12", text)
	}
	a := npdu.Address{Net: uint16(n)}
	if mac == "*" {
		return a, nil
	}
	digits, hexadecimal := strings.CutPrefix(strings.ToLower(mac), "0x")
	if one, err := strconv.ParseUint(mac, 10, 8); err == nil && !hexadecimal {
		a.MAC = string([]byte{byte(one)})
		return a, nil
	}
	octets, err := hex.DecodeString(digits)
	if err != nil || len(octets) == 0 || len(octets) > 18 {
		return npdu.Address{}, fmt.Errorf("%q is no MAC; write a number up to 255, such as 12, or hexadecimal such as 0x0a00000bbac0", mac)
	}
	a.MAC = string(octets)
	return a, nil
}

// Known reports whether the station needs no search.
func (s Station) Known() bool { return s.Link.IsValid() }

// Secure reports whether the station is known, and in a BACnet/SC network.
func (s Station) Secure() bool {
	_, is := sc.VMACOf(s.Link)
	return is
}

// Address returns the address of a station that is known.
func (s Station) Address() ip.Address { return ip.Address{Link: s.Link, Remote: s.Remote} }

// Fits reports whether a device that was seen at an address may be the one that is meant.
func (s Station) Fits(a ip.Address) bool {
	switch {
	case s.Link.IsValid():
		return a == s.Address()
	case s.Remote.Net != 0 && s.Remote.MAC == "":
		return a.Remote.Net == s.Remote.Net
	case s.Remote.Net != 0:
		return a.Remote == s.Remote
	}
	return true
}

// String returns the station as ParseStation reads it; "" for one that is found by its instance.
func (s Station) String() string {
	link := ""
	if s.Link.IsValid() {
		link = Text(s.Link)
	}
	if s.Remote.Net == 0 {
		return link
	}
	if link != "" {
		link += "/"
	}
	return link + remoteText(s.Remote)
}

// Text returns an address without the usual port, or that of a node of BACnet/SC.
func Text(a netip.AddrPort) string {
	if v, is := sc.VMACOf(a); is {
		return v.String()
	}
	if a.Port() == DefaultPort {
		return a.Addr().String()
	}
	return a.String()
}

// AddressText returns where a device was seen, as ParseStation reads it.
func AddressText(a ip.Address) string { return Station{Link: a.Link, Remote: a.Remote}.String() }

func remoteText(a npdu.Address) string {
	network := strconv.Itoa(int(a.Net)) + ":"
	switch len(a.MAC) {
	case 0:
		return network + "*"
	case 1:
		return network + strconv.Itoa(int(a.MAC[0]))
	}
	return network + "0x" + hex.EncodeToString([]byte(a.MAC))
}

// Local is the own address on the network: 10.0.0.5/24, with a port such as 10.0.0.5/24:47809; "" is every address of
// the machine, and broadcasts go to 255.255.255.255.
type Local struct {
	Listen    netip.AddrPort
	Broadcast netip.Addr
	Port      uint16 // of broadcasts
}

// ParseLocal reads a local address.
func ParseLocal(text string) (Local, error) {
	all := Local{Listen: netip.AddrPortFrom(netip.IPv4Unspecified(), DefaultPort), Broadcast: netip.AddrFrom4([4]byte{255, 255, 255, 255}), Port: DefaultPort}
	if text == "" {
		return all, nil
	}
	wrong := fmt.Errorf("%q is no local address; write the address of the network card with the length of its subnet, such as 10.0.0.5/24, with a port such as 10.0.0.5/24:47809 if it is not %d", text, DefaultPort)
	address, rest, found := strings.Cut(text, "/")
	port := uint64(DefaultPort)
	bits, portText, hasPort := strings.Cut(rest, ":")
	if !found {
		address, portText, hasPort = strings.Cut(text, ":")
	}
	if hasPort {
		var err error
		if port, err = strconv.ParseUint(portText, 10, 16); err != nil {
			return Local{}, wrong
		}
	}
	if address == "" || address == "0.0.0.0" {
		all.Listen = netip.AddrPortFrom(all.Listen.Addr(), uint16(port))
		all.Port = broadcastPort(port)
		return all, nil
	}
	own, err := netip.ParseAddr(address)
	n, errBits := strconv.ParseUint(bits, 10, 6)
	if err != nil || errBits != nil || !own.Is4() || n < 1 || n > 32 {
		return Local{}, wrong
	}
	octets := own.As4()
	for i := int(n); i < 32; i++ {
		octets[i/8] |= 0x80 >> (i % 8)
	}
	l := Local{Listen: netip.AddrPortFrom(own, uint16(port)), Broadcast: netip.AddrFrom4(octets), Port: broadcastPort(port)}
	if n == 32 {
		l.Broadcast = netip.Addr{}
	}
	return l, nil
}

// broadcastPort is the port of broadcasts: a socket with any free port broadcasts to the usual one.
func broadcastPort(port uint64) uint16 {
	if port == 0 {
		return DefaultPort
	}
	return uint16(port)
}
