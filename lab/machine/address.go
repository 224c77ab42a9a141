package machine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"voltbus/fault"
)

// The ports that FreeAddresses tries are below those that systems give to connections by themselves (IANA: 49152 and above, Linux:
// 32768 and above): nobody takes one between the question and its use by chance.
const (
	firstPort = 20_000
	ports     = 10_000
	tries     = 100
)

// FreeAddresses returns n addresses of host that nobody listens at, for programs that must know them before they start.
func FreeAddresses(ctx context.Context, host string, n int) (list []string, err error) {
	var problem error
	for range n + tries {
		if len(list) == n {
			return list, nil
		}
		address := net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(ports))) //nolint:gosec // by lot, no secret
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			problem = err
			continue
		}
		defer l.Close() // until all are found, so that they differ
		list = append(list, address)
	}
	return nil, fault.E("machine.FreeAddresses", fault.Unavailable, host, fmt.Errorf("no %d free ports were found: %w", n, problem))
}
