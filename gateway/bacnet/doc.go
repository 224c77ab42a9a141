// Package bacnet serves points of a node to BACnet clients (ASHRAE 135): a device whose objects get their values from the node's API, first
// the newest ones and then every change, whose trend logs are read from the history, and whose commands go to control.
//
//	node ─ Latest, Follow ─▶ Gateway ─▶ protocol/bacnet/server ─▶ clients, subscribers
//	clients ─ WriteProperty ─▶ writers ─ control.command ─▶ node
//
// A mapping file says which point is which object, and whose addresses may command. BACnet/IP tells no more of a client than its address,
// so a writer of the mapping stands for a person of the node, with a token of that person: control decides with the rights of the person.
package bacnet
