package broker

import (
	"slices"

	"voltbus/broker/template"
	"voltbus/broker/unknown"
)

// Adopt has messages that arrive from now on become points by other templates.
func Adopt(b *Broker, set *template.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg.Templates = set
	b.templates++
	clear(b.bindings)
	b.unknown.Forget(func(t *unknown.Topic) bool { return t.Template != "" || b.find(t.Name) != nil })
}

// renew forgets what is known of the points of templates that are not used any more: those of messages on their way are found
// anew. The broker's lock is held.
func (r *recording) renew() {
	r.set = r.b.templates
	r.watched = slices.DeleteFunc(r.watched, func(bd *binding) bool { return bd.set != 0 && bd.set != r.set })
	clear(r.points)
	for _, bd := range r.b.shared {
		for _, p := range bd.points {
			if !p.barred {
				r.points[p.tenant]++
			}
		}
	}
}
