// Package mqtt contains an MQTT stack (MQTT 5.0, OASIS standard of 7 March 2019, and 3.1.1, ISO/IEC 20922:2016), one package per layer;
// it has no code of its own.
//
//	brokertest  a broker in memory, for tests and measurements
//	session  sessions of a server and of a client  ⇄ packets; state machines
//	topic    names, filters, subscriptions, retained messages
//	packet   control packets                       ⇄ bytes
//
// Nothing here opens a socket, starts a goroutine, reads a clock or writes a log: a session is
// told what arrived and what time it is, and appends what is to be sent to a slice. A connection
// that is idle therefore needs neither a goroutine nor a buffer of its own.
//
// Clauses are those of MQTT 5.0 ([MQTT-3.3.2-2]) unless the text says 3.1.1.
package mqtt
