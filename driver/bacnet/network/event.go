package network

import (
	"sync"

	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// Events hands notifications of alarms and events to those who listen to their device. It is safe for concurrent use.
type Events struct {
	mu        sync.Mutex
	listeners map[ip.Address]map[*listener]struct{}
}

type listener struct {
	notify func(service.EventNotification)
}

// Listen has notify called with what the device at an address notifies of, until stop is called. It must not block.
func (e *Events) Listen(a ip.Address, notify func(service.EventNotification)) (stop func()) {
	l := &listener{notify}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listeners == nil {
		e.listeners = make(map[ip.Address]map[*listener]struct{})
	}
	if e.listeners[a] == nil {
		e.listeners[a] = make(map[*listener]struct{})
	}
	e.listeners[a][l] = struct{}{}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if delete(e.listeners[a], l); len(e.listeners[a]) == 0 {
			delete(e.listeners, a)
		}
	}
}

// notified takes a notification.
func (e *Events) notified(from ip.Address, n service.EventNotification) {
	e.mu.Lock()
	list := make([]*listener, 0, len(e.listeners[from]))
	for l := range e.listeners[from] {
		list = append(list, l)
	}
	e.mu.Unlock()
	for _, l := range list {
		l.notify(n)
	}
}
