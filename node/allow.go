package node

import (
	"fmt"
	"strings"
	"sync"

	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/declared"
	"voltbus/point"
	"voltbus/service"
	"voltbus/wire"
)

// readers lists the methods of a node that are read-only.
var readers = sync.OnceValue(func() []string { return service.Readers(declared.All()) }) //nolint:gochecknoglobals // never changed

// told are the methods by which a node tells what its people must see of it where its data goes: alarms, what happened, and notes.
var told = []string{"alarm.list", "annotation.list", "timeline.list"} //nolint:gochecknoglobals // never changed

// allowed returns what ancestors may do here: what uplink.allow lists or, without it, reading and
// subscribing to what is sent, being told of alarms, what happened and notes, and calling read-only
// methods of descendants. It fails with fault.Invalid.
func allowed(u *config.Uplink) (identity.Grants, error) {
	var g identity.Grants
	if u.Allow == nil {
		if g.Read = u.Select; len(g.Read) == 0 {
			g.Read = []point.Pattern{"**"}
		}
		g.Subscribe = g.Read
		for _, method := range told {
			g.Call = append(g.Call, identity.CallGrant{Agent: wire.NodeName, Method: method})
		}
		for _, method := range readers() {
			g.Call = append(g.Call, identity.CallGrant{Agent: "*/" + wire.NodeName, Method: method})
		}
		return g, nil
	}
	for i, text := range u.Allow {
		verb, object, _ := strings.Cut(strings.TrimSpace(text), " ")
		more, err := identity.ParseCapability(verb, strings.TrimSpace(object))
		if bad := more.Validate(); err == nil && len(bad) > 0 {
			err = bad[0]
		}
		if err != nil {
			return g, fault.E("node.allowed", fault.Invalid, fmt.Sprintf("uplink.allow[%d]", i), fmt.Errorf("%q: %w", text, err))
		}
		g = g.With(more)
	}
	return g, nil
}
