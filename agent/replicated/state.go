package replicated

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/identity"
)

// state returns what this replica knows of an agent.
func (a *Agents) state(ctx context.Context, name string) (s state, err error) {
	if s.Grants, err = a.cfg.Identities.Grants(ctx, name); err != nil {
		return s, err
	}
	s.Revoked = a.cfg.Identities.Revoked(name)
	s.Documents, err = a.cfg.Documents.All(ctx, name)
	return s, err
}

// tell tells the other replicas what was changed at this one since it was compared last.
func (a *Agents) tell(ctx context.Context, name string) {
	before, known := a.seen[name]
	now, err := a.state(ctx, name)
	if err != nil || !known || same(before, now) {
		return
	}
	err = a.update(ctx, name, func(r *record) { r.State.follow(&before, &now) })
	if err == nil || fault.Is(err, fault.Invalid) { // which the next change may end
		a.seen[name] = now
	}
	if err != nil {
		a.cfg.Log.WarnContext(ctx, "what was changed of an agent is not passed on to the other replicas", slog.String("agent", name), slog.Any("err", err))
	}
}

// follow changes what differs between two states.
func (s *state) follow(before, now *state) {
	if !same(before.Grants, now.Grants) {
		s.Grants = now.Grants
	}
	if before.Revoked != now.Revoked {
		s.Revoked = now.Revoked
	}
	if s.Documents == nil {
		s.Documents = map[string]Document{}
	}
	for doc, d := range now.Documents {
		if before.Documents[doc] != d {
			s.Documents[doc] = d
		}
	}
	for doc := range before.Documents {
		if _, still := now.Documents[doc]; !still {
			delete(s.Documents, doc)
		}
	}
}

// adopt makes what this replica knows of an agent what the replicas do.
func (a *Agents) adopt(ctx context.Context, name string, want *state) error {
	is, err := a.state(ctx, name)
	if err != nil {
		return err
	}
	if !same(is.Grants, want.Grants) {
		key, err := identity.ReadKey(a.place(name).In(place.Key))
		if err != nil {
			return err
		}
		if _, err = a.cfg.Identities.Admit(ctx, name, key.Public(), func(g *identity.Grants) error { *g = want.Grants; return nil }); err != nil {
			return err
		}
	}
	if want.Revoked && !is.Revoked {
		err = a.cfg.Identities.Revoke(ctx, name)
	}
	for _, doc := range slices.Sorted(maps.Keys(want.Documents)) {
		if d := want.Documents[doc]; is.Documents[doc] != d {
			err = errors.Join(err, a.cfg.Documents.Set(ctx, name, doc, d))
		}
	}
	for doc := range is.Documents {
		if _, stays := want.Documents[doc]; !stays {
			err = errors.Join(err, a.cfg.Documents.Delete(ctx, name, doc))
		}
	}
	if err == nil {
		a.seen[name], err = a.state(ctx, name)
	}
	return err
}

// same reports whether two values are encoded alike.
func same[T any](a, b T) bool {
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(one) == string(two)
}
