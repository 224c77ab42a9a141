package network

import (
	"context"
	"fmt"
	"os"
	"time"

	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/sc"
	"voltbus/protocol/bacnet/service"
)

// SC is a BACnet/SC network that devices share; the zero value is none.
type SC struct {
	Hub      string // address of the primary hub
	Failover string // and of the one for when that cannot be reached; "" for none
	Secrets  Secrets
}

// Secrets are the contents of PEM files: settings with equal contents are equal.
type Secrets struct{ Certificate, Key, CA string }

// How a node of BACnet/SC keeps its connection to the hub.
const (
	scHeartbeat    = 30 * time.Second
	scReconnect    = 2 * time.Second
	scMaxReconnect = time.Minute
	scWait         = 10 * time.Second
)

// carrier returns the node of the network. Salt tells nodes with the same certificate apart; changed is told of its connection.
func (s SC) carrier(salt string, changed func(hub string, err error)) (*sc.Carrier, error) {
	certificates, err := sc.ParseCertificates([]byte(s.Secrets.Certificate), []byte(s.Secrets.Key), []byte(s.Secrets.CA))
	if err != nil {
		return nil, err
	}
	vmac, uuid := certificates.Identity(salt)
	return sc.NewCarrier(sc.Config{
		VMAC: vmac, UUID: uuid, Primary: s.Hub, Failover: s.Failover, Certificates: certificates,
		Heartbeat: scHeartbeat, Reconnect: scReconnect, MaxReconnect: scMaxReconnect, Wait: scWait, Changed: changed,
	}), nil
}

// machine tells the nodes of two machines apart that have the same certificate.
func machine() string {
	name, _ := os.Hostname() // without one they have the same address, and the hub says so
	return name
}

// link is what a socket is opened with, and the carrier of BACnet/SC.
func (s Settings) link(changed func(hub string, err error)) (ip.Config, *sc.Carrier, error) {
	if s.SC == (SC{}) {
		return ip.Config{
			Listen: s.Local.Listen, Broadcast: s.Local.Broadcast, BroadcastPort: s.Local.Port, BBMD: s.BBMD, TTL: s.TTL,
		}, nil, nil
	}
	carrier, err := s.SC.carrier(machine(), changed)
	if err != nil {
		return ip.Config{}, nil, err
	}
	return ip.Config{Carrier: carrier}, carrier, nil
}

// Await waits until broadcasts can leave: until a BBMD has accepted the node for the first time, or a hub takes its messages. The error
// says why they cannot when ctx ended.
func (s *Socket) Await(ctx context.Context) error {
	if s.carrier != nil {
		return s.carrier.Await(ctx)
	}
	return s.Client.Port().AwaitRegistration(ctx)
}

// WhoIs broadcasts a Who-Is.
func (s *Socket) WhoIs(network uint16, devices service.Range) error {
	return s.Client.WhoIs(network, devices)
}

// retry has a node without a hub try to connect: somebody needs it now.
func (s *Socket) retry() {
	if s.carrier != nil {
		s.carrier.Node().Retry()
	}
}

// Doubt has the connection to a BACnet/SC hub checked: a device did not answer.
func (s *Socket) Doubt() {
	if s.carrier != nil {
		s.carrier.Node().Doubt()
	}
}

// Losses returns how often the connection to a BACnet/SC hub was lost, and what was under way with it.
func (s *Socket) Losses() uint64 {
	if s.carrier == nil {
		return 0
	}
	return s.carrier.Losses()
}

// OnLoss has lost called each time that the connection to a BACnet/SC hub is lost, until end is called. It must not block.
func (s *Socket) OnLoss(lost func()) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.onLoss == nil {
		s.onLoss = make(map[*func()]struct{})
	}
	s.onLoss[&lost] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.onLoss, &lost)
	}
}

// hubChanged is told of the connection to the hub.
func (s *Socket) hubChanged(_ string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	losses := s.carrier.Losses()
	if err == nil || losses == s.losses {
		return
	}
	s.losses = losses
	for lost := range s.onLoss {
		(*lost)()
	}
}

// Problem says why no hub takes messages now; nil if one does, or none is needed.
func (s *Socket) Problem() error {
	if s.carrier == nil {
		return nil
	}
	if err := s.carrier.Problem(); err != nil {
		return fmt.Errorf("%w: %w", ErrHub, err)
	}
	return nil
}
