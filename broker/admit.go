package broker

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// keySeparator stands between the name of a device and the client identifier in the key of a session. Neither holds it.
const keySeparator = "\x00"

// ownerOf returns the name of the device from the key of a session.
func ownerOf(key string) string {
	owner, _, _ := strings.Cut(key, keySeparator)
	return owner
}

// clientOf returns the client identifier from the key of a session.
func clientOf(key string) string {
	_, id, _ := strings.Cut(key, keySeparator)
	return id
}

func shownKey(key string) string { return strings.ReplaceAll(key, keySeparator, " ") }

var (
	errMethod   = errors.New("asks for an authentication method; none is known here")
	errNobody   = errors.New("shows neither a name with a secret nor a certificate")
	errOther    = errors.New("shows the certificate of another device")
	errSessions = errors.New("has as many clients as a device of its kind may have")
	errGuess    = errors.New("failed too often; it is not asked again for a while")
)

// Connect implements session.Broker.
func (b handler) Connect(c *session.Conn, p *packet.Connect) session.Answer {
	l := linkOf(c)
	if b.closed {
		b.counts.Refused++
		return session.Elsewhere(b.another())
	}
	who, code, err := b.meet(l, p)
	if err == nil {
		code, err = b.enter(l, who, p)
	}
	if err != nil {
		b.counts.Refused++
		b.tell(Refusal{Device: who.name, Client: string(p.ClientID), Address: l.Peer.String(), Action: "connect", Why: err.Error()})
		return session.Answer{Code: code}
	}
	var a session.Answer
	id := string(p.ClientID)
	if id == "" {
		b.assigned++
		id = fmt.Sprintf("assigned-%x-%d", b.cfg.Now().UnixMicro(), b.assigned)
		a.ClientID = id
	}
	a.Key = who.name + keySeparator + id
	b.counts.Connects++
	if b.cfg.Cluster != nil && !b.cfg.Cluster.Owns(a.Key) {
		waits := a
		l.moving = &waits
		a.Code = session.Pending
	}
	return a
}

// meet says who a client is. A replica that does not know who owns a session lets nobody in.
func (b handler) meet(l *link, p *packet.Connect) (who login, code packet.Code, err error) {
	if c := b.cfg.Cluster; c != nil && c.Trouble() != nil {
		return who, packet.ServerUnavailable, c.Trouble()
	}
	return b.login(l, p)
}

// login is who a client is.
type login struct{ name, kind string }

// login says who a client is.
func (b handler) login(l *link, p *packet.Connect) (who login, code packet.Code, err error) {
	who.name = string(p.UserName)
	switch {
	case p.Properties.Bytes(packet.AuthenticationMethod) != nil:
		return who, packet.BadAuthenticationMethod, errMethod
	case p.UserName == nil && l.Secure == nil && l.Local:
		return who, 0, nil
	case p.UserName == nil && l.Secure == nil:
		return who, packet.NotAuthorized, errNobody
	case !b.guesses.Admits(who.name, l.Peer):
		return who, packet.ConnectionRateExceeded, errGuess
	case l.Secure != nil && p.Password == nil:
		who.name = cmp.Or(who.name, l.Secure.Name)
		if who.name != l.Secure.Name {
			return who, packet.NotAuthorized, errOther
		}
		who.kind, err = b.cfg.Devices.Certified(who.name, l.Secure.Fingerprint)
	default:
		who.kind, err = b.cfg.Devices.Login(who.name, string(p.Password))
	}
	if err != nil {
		b.guesses.Failed(who.name, l.Peer)
		return who, packet.BadUserNameOrPassword, err
	}
	return who, 0, nil
}

// enter judges whether a device may have one more client, and what its will says.
func (b handler) enter(l *link, who login, p *packet.Connect) (packet.Code, error) {
	t := b.tenants.Of(who.name)
	if who.name != "" {
		k, known := b.kinds[who.kind]
		if !known {
			b.tenants.Release(t)
			return packet.NotAuthorized, fmt.Errorf("is of the kind %q, which is not in mqtt.kinds", who.kind)
		}
		t.Be(k)
	}
	if p.Will != nil && !t.MayPublish(string(p.Will.Topic)) {
		b.tenants.Release(t)
		return packet.NotAuthorized, fmt.Errorf("has a will for the topic %q, which it may not publish to", p.Will.Topic)
	}
	if p.Will != nil && t.Kind != nil && t.Kind.Payload > 0 && len(p.Will.Payload) > t.Kind.Payload {
		b.tenants.Release(t)
		return packet.QuotaExceeded, fmt.Errorf("has a will of %d bytes, and a device of its kind may send %d", len(p.Will.Payload), t.Kind.Payload)
	}
	own := b.table.Get(who.name + keySeparator + string(p.ClientID))
	if who.name != "" && own == nil && t.Sessions >= t.Kind.Sessions {
		return packet.QuotaExceeded, errSessions
	}
	l.Arrived()
	l.tenant = t
	t.Links[l] = struct{}{}
	return 0, nil
}

// Auth implements session.Broker.
func (b handler) Auth(*session.Conn, *packet.Auth) session.Answer {
	return session.Answer{Code: packet.BadAuthenticationMethod}
}

// Open implements session.Broker.
func (b handler) Open(_ *session.Conn, key string, clean bool) (*session.Session, bool) {
	s, present, old := b.table.Open(b.cfg.Now(), key, clean)
	if l := linkOf(old); l != nil {
		b.counts.TakenOver++
		b.disconnect(l, packet.SessionTakenOver)
	}
	if !present {
		b.tenants.Of(ownerOf(key)).Sessions++
	} else {
		b.keeping.touchShared(s)
	}
	b.active = s
	return s, present
}

func (b *Broker) tell(r Refusal) {
	if b.cfg.Told != nil {
		b.cfg.Told(r)
	}
}

// Dismiss ends what a device has here, at once: its connections, and with forget its sessions too. Its secret was
// replaced, or it may not connect any more.
func (b *Broker) Dismiss(device string, forget bool) {
	b.mu.Lock()
	defer b.unlock()
	t := b.tenants[device]
	if t == nil {
		return
	}
	for l := range t.Links {
		b.disconnect(l, packet.NotAuthorized)
		l.Shut() // what it sends from now on is not read
	}
	if !forget {
		return
	}
	prefix := device + keySeparator
	for key := range b.table.Keys() {
		if strings.HasPrefix(key, prefix) {
			b.table.Remove(b.cfg.Now(), key)
		}
	}
}
