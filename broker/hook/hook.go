// Package hook takes messages of devices over HTTP and has the broker publish them: webhooks of servers, and devices that use no
// MQTT.
package hook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"voltbus/broker"
	"voltbus/fault"
)

// Prefix begins the paths of requests; the topic follows.
const Prefix = "/mqtt/publish/"

// Publisher publishes for devices, as broker.Hook does.
type Publisher interface {
	Publish(ctx context.Context, p *broker.Post) error
}

// Handler answers POST requests. A device shows its name and secret by HTTP Basic authentication, and the body is the payload.
type Handler struct {
	Publisher Publisher
	Most      int64 // bytes of a payload
}

// The bounds of a request.
const (
	bodyTime = 30 * time.Second
	waitTime = 20 * time.Second
)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		w.Header().Set("Allow", "POST, PUT")
		problem(w, http.StatusMethodNotAllowed, "write POST, with the topic in the path and the payload as the body")
		return
	}
	name, secret, shown := r.BasicAuth()
	if !shown {
		h.ask(w)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // a recorder of a test has none
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.Most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		problem(w, http.StatusRequestEntityTooLarge, "the payload is larger than mqtt.packet allows")
		return
	}
	if err != nil {
		problem(w, http.StatusRequestTimeout, "the body did not arrive in time")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitTime)
	defer cancel()
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	err = h.Publisher.Publish(ctx, &broker.Post{
		Device: name, Secret: secret, Peer: peer.Addr().Unmap(), Topic: strings.TrimPrefix(r.URL.Path, Prefix), Payload: payload,
	})
	h.answer(w, err)
}

func (h *Handler) ask(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Basic realm="voltbus devices"`)
	problem(w, http.StatusUnauthorized, broker.ErrLogin.Error())
}

// answer says what became of a message: 204 when its values are on disk, 202 when no template takes it.
func (h *Handler) answer(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, broker.ErrLogin):
		h.ask(w)
	case errors.Is(err, broker.ErrRate):
		w.Header().Set("Retry-After", "5")
		problem(w, http.StatusTooManyRequests, err.Error())
	case fault.Is(err, fault.NotFound):
		problem(w, http.StatusAccepted, err.Error())
	case fault.Is(err, fault.Refused):
		problem(w, http.StatusForbidden, err.Error())
	case fault.Is(err, fault.Invalid):
		problem(w, http.StatusBadRequest, err.Error())
	default:
		w.Header().Set("Retry-After", "5")
		problem(w, http.StatusServiceUnavailable, err.Error())
	}
}

func problem(w http.ResponseWriter, status int, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.Error(w, text, status)
}
