package enrol

import (
	"net"
)

// most is the maximum number of a machine's own addresses that an invitation names.
const most = 4

// Reachable returns the addresses at which others reach a bus that listens on an address, such as
// 0.0.0.0:4222, on a machine with the given names and addresses; none if it does not listen.
func Reachable(listens string, names []string) []string {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return []string{listens}
	}
	var four, six []string
	for _, name := range names {
		ip := net.ParseIP(name)
		switch {
		case ip == nil || ip.IsLoopback():
		case ip.To4() != nil:
			four = append(four, net.JoinHostPort(name, port))
		default:
			six = append(six, net.JoinHostPort(name, port))
		}
	}
	list := append(four, six...)
	if len(list) == 0 {
		list = []string{net.JoinHostPort("127.0.0.1", port)}
	}
	return list[:min(len(list), most)]
}
