// Package sc is BACnet/SC (ASHRAE 135 annex AB): messages of nodes over WebSockets that are secured by TLS 1.3, in which both ends
// show certificates.
//
// [Parse] and the types with Append are a pure codec. [Node] keeps a connection to a hub, the primary or the failover hub, and
// sends and receives NPDUs; [Hub] is the hub function, which passes messages on between the nodes that are connected to it.
// [Carrier] makes a node the data link of package client. Direct connections between nodes are not made, and not accepted.
package sc

import "voltbus/protocol/bacnet/enum"

// HubProtocol is the WebSocket subprotocol of connections to a hub (AB.7.1).
const HubProtocol = "hub.bsc.bacnet.org"

// The error codes of this layer (clause 18).
const (
	codeUnknownFunction enum.ErrorCode = 143
	codeNotUnderstood   enum.ErrorCode = 146
	codeDuplicate       enum.ErrorCode = 151
	codeInconsistent    enum.ErrorCode = 174

	classCommunication enum.ErrorClass = 7
)
