// Package channel connects the state machines of DNP3 to TCP, TLS, UDP and serial streams, in either role, dialed or accepted by either
// side.
//
// A [Hub] holds what all channels of a program share: buffers, lent only while they hold
// something, and one timer wheel. A [Client] dials and keeps one connection; a [Server]
// accepts many and finds out by link addresses who is there; a [Line] is a stream that was
// opened elsewhere. Ports come and go on a Server and a Line while they run, and both can be
// paused. Each connection costs one goroutine, the reader; whoever has something to send
// writes it, all frames of a fragment in one write. On Linux a few workers can serve all TCP
// connections instead, see [HubConfig].
//
//	hub := channel.NewHub(channel.HubConfig{})
//	client, err := channel.NewClient(hub, channel.ClientConfig{
//		Dial:  channel.DialTCP("127.0.0.1:20000", nil),
//		Ports: []*station.Port{port},
//	})
//	…
//	go hub.Run(ctx)
//	err = client.Run(ctx)
package channel
