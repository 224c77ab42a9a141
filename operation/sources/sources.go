// Package sources declares and carries out the operations on the brokers whose messages are recorded.
package sources

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/source"
)

// Sources are the sources of a node. See source.Sources.
type Sources interface {
	States() []source.State
	Unread(name string, skip, limit int) ([]source.Kept, error)
	Discard(name string) (int, error)
	Again(ctx context.Context, name string) (int, error)
}

// The arguments.
type (
	// Source names a source.
	Source struct {
		Source string `json:"source" api:"required,max=64" doc:"Its name in the configuration"`
	}
	// Page selects messages that could not be read.
	Page struct {
		Source string `json:"source" api:"required,max=64" doc:"Its name in the configuration"`
		Skip   int    `json:"skip" api:"query,max=9007199254740992" doc:"So many are passed over"`
		Limit  int    `json:"limit" api:"query,min=1,max=1000,default=100" doc:"So many at most"`
	}
)

// The operations.
var (
	List = operation.Declare[struct{}, AllSources](operation.Spec{
		Name: "sources.list", ID: "listSources", HTTP: "GET /sources", Role: identity.Viewer, Remote: true,
		Summary: "List the brokers whose messages are recorded: what was taken, and what became of it", Result: "All sources",
	})
	Unread = operation.Declare[Page, UnreadMessages](operation.Spec{
		Name: "sources.unread", ID: "listUnreadMessages", HTTP: "GET /sources/{source}/unread", Role: identity.Operator, Remote: true,
		Summary: "List the messages that could not be read and that are kept", Result: "With the reasons",
	})
	Retry = operation.Declare[Source, SourceCount](operation.Spec{
		Name: "sources.retry", ID: "retryUnreadMessages", HTTP: "POST /sources/{source}/retry", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Read the messages once more that could not be read, and record them", Result: "How many could be read now",
	})
	Discard = operation.Declare[Source, SourceCount](operation.Spec{
		Name: "sources.discard", ID: "discardUnreadMessages", HTTP: "POST /sources/{source}/discard", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Discard the messages that could not be read", Result: "How many were discarded",
	})
)

// Part carries out the operations on sources.
type Part struct {
	Sources Sources // nil for a node that is not running
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Unread, nil, p.unread), operation.Bind(Retry, nil, p.retry), operation.Bind(Discard, nil, p.discard),
	}
	if p.Sources == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(context.Context, *operation.Call, *struct{}) (AllSources, error) {
	states := p.Sources.States()
	out := AllSources{Sources: make([]SourceState, len(states))}
	for i := range states {
		s := &states[i]
		o := SourceState{
			Name: s.Name, Kind: s.Kind, State: "ok", Since: s.Since, Messages: s.Messages, Samples: s.Samples, Refused: s.Refused, Misdated: s.Misdated,
			Unread: s.Counts.Unread, Diverted: s.Diverted, Kept: s.Kept, Dropped: s.Dropped, Last: s.Last,
		}
		switch {
		case s.Err != nil:
			o.State, o.Reason = "paused", s.Err.Error()
		case s.Dead != nil:
			o.Reason = s.Dead.Error()
		}
		out.Sources[i] = o
	}
	return out, nil
}

func (p *Part) kept(name string) int {
	for _, s := range p.Sources.States() {
		if s.Name == name {
			return s.Kept
		}
	}
	return 0
}

func (p *Part) unread(_ context.Context, _ *operation.Call, in *Page) (out UnreadMessages, err error) {
	list, err := p.Sources.Unread(in.Source, in.Skip, in.Limit)
	if err != nil {
		return out, err
	}
	out = UnreadMessages{Messages: make([]UnreadMessage, len(list)), Kept: p.kept(in.Source)}
	for i := range list {
		k := &list[i]
		out.Messages[i] = UnreadMessage{Topic: k.Topic, Place: k.Place, At: k.At, Reason: k.Reason, Payload: text(k.Payload), Size: k.Size}
	}
	return out, nil
}

const mostShown = 1 << 10

// text returns the beginning of a payload for people.
func text(payload []byte) string {
	var b strings.Builder
	for payload = payload[:min(len(payload), mostShown)]; len(payload) > 0; {
		r, size := utf8.DecodeRune(payload)
		if r == utf8.RuneError && size <= 1 || !strconv.IsPrint(r) && r != '\n' && r != '\t' {
			b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(payload[0]), 16)[1:])
			payload = payload[1:]
			continue
		}
		b.WriteRune(r)
		payload = payload[size:]
	}
	return b.String()
}

func (p *Part) retry(ctx context.Context, c *operation.Call, in *Source) (out SourceCount, err error) {
	c.Did(in.Source, nil)
	out.Messages, err = p.Sources.Again(ctx, in.Source)
	out.Kept = p.kept(in.Source)
	return out, err
}

func (p *Part) discard(_ context.Context, c *operation.Call, in *Source) (out SourceCount, err error) {
	c.Did(in.Source, nil)
	out.Messages, err = p.Sources.Discard(in.Source)
	out.Kept = p.kept(in.Source)
	return out, err
}
