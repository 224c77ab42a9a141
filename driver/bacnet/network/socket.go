package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/sc"
)

// Settings are what devices that share a socket have in common.
type Settings struct {
	Local Local
	BBMD  netip.AddrPort // invalid: the node is no foreign device
	TTL   time.Duration  // of the registration
	SC    SC             // not zero: in place of the others
}

// ErrHub says that no hub of a BACnet/SC network takes messages of the node.
var ErrHub = errors.New("no BACnet/SC hub takes messages of this node")

// Sockets are the open sockets of a program, each with its users. A UDP port can be opened only once, and thousands of
// devices share it. The zero value has none. It is safe for concurrent use.
type Sockets struct {
	mu   sync.Mutex
	open map[Settings]*Socket
}

// Socket is an open socket.
type Socket struct {
	Client    *client.Client
	Directory *Directory
	Events    Events
	Clocks    *Clocks

	carrier  *sc.Carrier // of BACnet/SC; nil with BACnet/IP
	of       *Sockets
	settings Settings
	users    int
	stop     context.CancelFunc
	running  sync.WaitGroup

	mu     sync.Mutex
	onLoss map[*func()]struct{}
	losses uint64 // of which onLoss was told
}

// maxInFlight bounds the requests under way to all devices of a socket.
const maxInFlight = 1024

// Enter returns the socket of the settings with one user more, opened if there is none. Leave ends the use.
func (s *Sockets) Enter(ctx context.Context, settings Settings) (*Socket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[settings]; one != nil {
		one.users++
		one.retry()
		return one, nil
	}
	one := &Socket{of: s, settings: settings, users: 1, Directory: newDirectory(), Clocks: newClocks()}
	if err := one.openClient(ctx); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	one.stop = stop
	one.running.Go(func() { one.Directory.run(run, one) })
	one.running.Go(func() { one.Clocks.run(run, tellClock(one.Client)) })
	if s.open == nil {
		s.open = make(map[Settings]*Socket)
	}
	s.open[settings] = one
	return one, nil
}

// openClient opens the client.
func (s *Socket) openClient(ctx context.Context) error {
	link, carrier, err := s.settings.link(s.hubChanged)
	if err != nil {
		return err
	}
	s.carrier = carrier
	s.Client, err = client.Open(ctx, client.Config{
		IP: link, MaxInFlight: maxInFlight, MaxQueue: 1 << 16, Announced: s.Directory.announced, Event: s.Events.notified,
	})
	if err != nil {
		return fmt.Errorf("%w; check that the address is one of this machine, and that no other program, and no device with another bbmd, uses the port", err)
	}
	return nil
}

// Leave ends the use of a socket. The last user closes it.
func (s *Socket) Leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	delete(s.of.open, s.settings)
	s.stop()
	s.running.Wait()
	_ = s.Client.Close()
}
