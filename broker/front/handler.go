package front

import (
	"net/http"
	"net/netip"
	"strings"

	"voltbus/broker"
	"voltbus/broker/hook"
	"voltbus/control/dispatch"
	"voltbus/protocol/websocket"
)

// Handler lets MQTT clients in by WebSocket, at /mqtt, if they may, and takes messages of devices over HTTP, beside what a
// handler does. A nil front does nothing beside.
func (f *Front) Handler(socket bool, next http.Handler) http.Handler {
	if f == nil {
		return next
	}
	posts := &hook.Handler{Publisher: broker.NewHook(f.Broker), Most: int64(f.cfg.Setting.Packet)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, hook.Prefix) {
			posts.ServeHTTP(w, r)
			return
		}
		if !socket || r.URL.Path != "/mqtt" {
			next.ServeHTTP(w, r)
			return
		}
		conn, err := websocket.Upgrade(w, r, "mqtt")
		if err != nil {
			return
		}
		peer, _ := netip.ParseAddrPort(r.RemoteAddr)
		f.Attend(r.Context(), conn, peer.Addr(), true)
	})
}

// Beside returns all devices of a node that can be commanded: those of MQTT, and others. A nil front has none.
func (f *Front) Beside(others dispatch.Devices) dispatch.Devices {
	if f == nil {
		return others
	}
	return f.Commands.Beside(others)
}
