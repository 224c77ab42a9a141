package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/wire"
)

var (
	errFarPattern = errors.New("name one pattern, such as ahu1/**; the node is asked for one at a time")
	errFarFilter  = errors.New("is for points of this node; of another one name a pattern")
)

// farSource returns live messages of another node. That node checks whether the caller may read them.
func (s *Streams) farSource(r *exchange.Request, node string) (key string, from source, err error) {
	in := exchange.Read(r)
	patterns := in.All("pattern")
	if len(patterns) > 1 {
		in.Fail("pattern", errFarPattern)
	}
	for _, name := range []string{"unit", "tag", "control"} {
		if r.Params.Has(name) {
			in.Fail(name, errFarFilter)
		}
	}
	if in.Err != nil {
		return "", nil, in.Err
	}
	e := farEar{far: s.Remote, who: exchange.CallerOf(r.User), node: node, pattern: "**"}
	if len(patterns) == 1 && patterns[0] != "" {
		e.pattern = patterns[0]
	}
	ctx := context.WithoutCancel(r.Context()) // it belongs to all readers of the same feed, and ends with the last one
	return fmt.Sprintf("node %q %q %v %q", e.node, e.who.Name, e.who.Role, e.pattern), func(f *feed) (func(), error) { return e.open(ctx, f), nil }, nil
}

// farEar polls another node for its devices' reports.
type farEar struct {
	far           exchange.Remote
	who           operation.Caller
	node, pattern string
	cursor        string
}

// farHeard is the other node's answer.
type farHeard struct {
	Cursor   string            `json:"cursor"`
	Messages []json.RawMessage `json:"messages"`
	Dropped  uint64            `json:"dropped"`
}

const (
	farWait     = 10 * time.Second // wait for a message, on the other node
	farPatience = 20 * time.Second // for its answer
)

// open polls until stop, or until it is refused.
func (e *farEar) open(ctx context.Context, f *feed) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	f.open = make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		began := sync.OnceFunc(func() { close(f.open) })
		defer began()
		for first := true; ctx.Err() == nil; first = false { // the first answer only says that it listens
			asked := time.Now()
			some, err := e.ask(ctx, f)
			if err != nil {
				f.fail(err)
				return
			}
			began()
			if !some && !first && time.Since(asked) < lookFar { // the other node does not wait as it should
				pause(ctx, lookFar)
			}
		}
	})
	return func() {
		cancel()
		asking.Wait()
	}
}

// ask forwards what came since the last call, and waits briefly for more. It reports whether there was any.
func (e *farEar) ask(ctx context.Context, f *feed) (some bool, err error) {
	args := map[string]json.RawMessage{"wait": fmt.Append(nil, farWait.Seconds())}
	for name, text := range map[string]string{"pattern": e.pattern, "cursor": e.cursor} {
		b, err := json.Marshal(text)
		if err != nil {
			return false, fault.E("api.stream", fault.Invalid, name, err)
		}
		args[name] = b
	}
	ctx, cancel := context.WithTimeout(ctx, farPatience)
	defer cancel()
	result, err := e.far.Ask(ctx, &e.who, exchange.RemoteCall{Node: e.node, Agent: wire.NodeName, Method: "listen", Args: wire.Arguments{Kwargs: args}})
	if err != nil {
		return false, err
	}
	var heard farHeard
	if err := json.Unmarshal(result, &heard); err != nil {
		return false, fault.E("api.stream", fault.Corrupt, e.node, err)
	}
	if e.cursor = heard.Cursor; heard.Dropped > 0 {
		f.put("dropped", fmt.Appendf(nil, `{"messages":%d}`, heard.Dropped))
	}
	for _, message := range heard.Messages {
		f.deliver(message)
	}
	return len(heard.Messages) > 0 || heard.Dropped > 0, nil
}
