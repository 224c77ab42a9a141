// Package session contains the state machines of MQTT sessions (MQTT 5.0 and 3.1.1), without sockets, goroutines or clocks.
//
//	Conn     the server's end of one network connection: CONNECT, keep-alive, topic aliases
//	Session  what outlives the connection: subscriptions, messages in flight and waiting, will
//	Table    the sessions of a server by client identifier, with their expiry
//	Client   the client's end, for drivers, tests and load generators
//
// A server gives what arrives to [Conn.Receive] and sends what that appends. It implements
// [Broker], which is asked about rights and is handed messages. It calls [Session.Deliver] for each
// subscriber of a message, [Session.Commit] once a message with QoS 1 or 2 is kept, and Tick when a
// deadline has passed.
//
// The sessions of a Table and their connections share one lock of the server, which it takes around
// every call. A server that wants several goroutines at work keeps several Tables and chooses one
// by the client identifier in [Broker.Open]: it takes the lock there and keeps it until Receive
// returns.
package session
