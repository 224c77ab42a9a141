package packet

import "fmt"

// Code is a reason code (§2.4). Codes from 0x80 on say that something failed.
type Code byte

// The reason codes. Success is also "normal disconnection" and "granted QoS 0".
const (
	Success                             Code = 0x00
	GrantedQoS1                         Code = 0x01
	GrantedQoS2                         Code = 0x02
	DisconnectWithWill                  Code = 0x04
	NoMatchingSubscribers               Code = 0x10
	NoSubscriptionExisted               Code = 0x11
	ContinueAuthentication              Code = 0x18
	ReAuthenticate                      Code = 0x19
	UnspecifiedError                    Code = 0x80
	MalformedPacket                     Code = 0x81
	ProtocolError                       Code = 0x82
	ImplementationSpecificError         Code = 0x83
	UnsupportedProtocolVersion          Code = 0x84
	ClientIdentifierNotValid            Code = 0x85
	BadUserNameOrPassword               Code = 0x86
	NotAuthorized                       Code = 0x87
	ServerUnavailable                   Code = 0x88
	ServerBusy                          Code = 0x89
	Banned                              Code = 0x8A
	ServerShuttingDown                  Code = 0x8B
	BadAuthenticationMethod             Code = 0x8C
	KeepAliveTimeout                    Code = 0x8D
	SessionTakenOver                    Code = 0x8E
	TopicFilterInvalid                  Code = 0x8F
	TopicNameInvalid                    Code = 0x90
	PacketIdentifierInUse               Code = 0x91
	PacketIdentifierNotFound            Code = 0x92
	ReceiveMaximumExceeded              Code = 0x93
	TopicAliasInvalid                   Code = 0x94
	PacketTooLarge                      Code = 0x95
	MessageRateTooHigh                  Code = 0x96
	QuotaExceeded                       Code = 0x97
	AdministrativeAction                Code = 0x98
	PayloadFormatInvalid                Code = 0x99
	RetainNotSupported                  Code = 0x9A
	QoSNotSupported                     Code = 0x9B
	UseAnotherServer                    Code = 0x9C
	ServerMoved                         Code = 0x9D
	SharedSubscriptionsNotSupported     Code = 0x9E
	ConnectionRateExceeded              Code = 0x9F
	MaximumConnectTime                  Code = 0xA0
	SubscriptionIdentifiersNotSupported Code = 0xA1
	WildcardSubscriptionsNotSupported   Code = 0xA2
)

// Failed reports whether the code says that something failed.
func (c Code) Failed() bool { return c >= UnspecifiedError }

// String returns the name of the code as the standard writes it, in lower case.
func (c Code) String() string {
	if name := codeTable[c].name; name != "" {
		return name
	}
	return fmt.Sprintf("reason code 0x%02X", byte(c))
}

// allowed reports whether a packet of the type may carry the code.
func (c Code) allowed(t Type) bool { return codeTable[c].in&in(t) != 0 }

// places is a set of packet types.
type places uint16

func in(t Type) places { return 1 << t }

const (
	inWill      places = 1 << 0
	inConnect   places = 1 << CONNECT
	inConnack   places = 1 << CONNACK
	inPublish   places = 1 << PUBLISH
	inPuback    places = 1 << PUBACK
	inPubrec    places = 1 << PUBREC
	inPubrel    places = 1 << PUBREL
	inPubcomp   places = 1 << PUBCOMP
	inSubscribe places = 1 << SUBSCRIBE
	inSuback    places = 1 << SUBACK
	inUnsub     places = 1 << UNSUBSCRIBE
	inUnsuback  places = 1 << UNSUBACK
	inDisc      places = 1 << DISCONNECT
	inAuth      places = 1 << AUTH

	inReceived = inPuback | inPubrec
	inReleased = inPubrel | inPubcomp
	inAcks     = inReceived | inReleased
	inSubs     = inSuback | inUnsuback
)

// codeTable is §2.4 table 2-6.
var codeTable = [256]struct {
	name string
	in   places
}{
	Success:                             {"success", inConnack | inAcks | inSubs | inDisc | inAuth},
	GrantedQoS1:                         {"granted QoS 1", inSuback},
	GrantedQoS2:                         {"granted QoS 2", inSuback},
	DisconnectWithWill:                  {"disconnect with will message", inDisc},
	NoMatchingSubscribers:               {"no matching subscribers", inReceived},
	NoSubscriptionExisted:               {"no subscription existed", inUnsuback},
	ContinueAuthentication:              {"continue authentication", inAuth},
	ReAuthenticate:                      {"re-authenticate", inAuth},
	UnspecifiedError:                    {"unspecified error", inConnack | inReceived | inSubs | inDisc},
	MalformedPacket:                     {"malformed packet", inConnack | inDisc},
	ProtocolError:                       {"protocol error", inConnack | inDisc},
	ImplementationSpecificError:         {"implementation specific error", inConnack | inReceived | inSubs | inDisc},
	UnsupportedProtocolVersion:          {"unsupported protocol version", inConnack},
	ClientIdentifierNotValid:            {"client identifier not valid", inConnack},
	BadUserNameOrPassword:               {"bad user name or password", inConnack},
	NotAuthorized:                       {"not authorized", inConnack | inReceived | inSubs | inDisc},
	ServerUnavailable:                   {"server unavailable", inConnack},
	ServerBusy:                          {"server busy", inConnack | inDisc},
	Banned:                              {"banned", inConnack},
	ServerShuttingDown:                  {"server shutting down", inDisc},
	BadAuthenticationMethod:             {"bad authentication method", inConnack | inDisc},
	KeepAliveTimeout:                    {"keep alive timeout", inDisc},
	SessionTakenOver:                    {"session taken over", inDisc},
	TopicFilterInvalid:                  {"topic filter invalid", inSubs | inDisc},
	TopicNameInvalid:                    {"topic name invalid", inConnack | inReceived | inDisc},
	PacketIdentifierInUse:               {"packet identifier in use", inReceived | inSubs},
	PacketIdentifierNotFound:            {"packet identifier not found", inReleased},
	ReceiveMaximumExceeded:              {"receive maximum exceeded", inDisc},
	TopicAliasInvalid:                   {"topic alias invalid", inDisc},
	PacketTooLarge:                      {"packet too large", inConnack | inDisc},
	MessageRateTooHigh:                  {"message rate too high", inDisc},
	QuotaExceeded:                       {"quota exceeded", inConnack | inReceived | inSuback | inDisc},
	AdministrativeAction:                {"administrative action", inDisc},
	PayloadFormatInvalid:                {"payload format invalid", inConnack | inReceived | inDisc},
	RetainNotSupported:                  {"retain not supported", inConnack | inDisc},
	QoSNotSupported:                     {"QoS not supported", inConnack | inDisc},
	UseAnotherServer:                    {"use another server", inConnack | inDisc},
	ServerMoved:                         {"server moved", inConnack | inDisc},
	SharedSubscriptionsNotSupported:     {"shared subscriptions not supported", inSuback | inDisc},
	ConnectionRateExceeded:              {"connection rate exceeded", inConnack | inDisc},
	MaximumConnectTime:                  {"maximum connect time", inDisc},
	SubscriptionIdentifiersNotSupported: {"subscription identifiers not supported", inSuback | inDisc},
	WildcardSubscriptionsNotSupported:   {"wildcard subscriptions not supported", inSuback | inDisc},
}

// connackTable holds the return codes of a 3.1.1 CONNACK (3.1.1 §3.2.2.3).
var connackTable = [...]Code{
	Success, UnsupportedProtocolVersion, ClientIdentifierNotValid, ServerUnavailable, BadUserNameOrPassword, NotAuthorized,
}

// returnCode returns what a 3.1.1 CONNACK says for a reason code.
func (c Code) returnCode() byte {
	for i, known := range connackTable {
		if c == known {
			return byte(i)
		}
	}
	switch c {
	case Banned, BadAuthenticationMethod:
		return 5
	default:
		return 3
	}
}
