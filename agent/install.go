package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/agent/place"
	"voltbus/agent/upload"
	"voltbus/fault"
	"voltbus/identity"
)

// Installing is the configuration of installations.
type Installing struct {
	Python     string // the interpreter; "" for python3
	UV         string // the program uv; "" for the one on the path, or none
	SDK        func() (name string, wheel []byte, err error)
	Identities Identities // nil for a node without identities
	Documents  Documents  // nil for a node without documents
}

// Documents stores the configuration of agents.
type Documents interface {
	// Bind makes invalid configuration of an agent be refused, according to a JSON Schema; nil for none. It
	// returns what is wrong with the existing one, which stays, and fault.Invalid for an invalid schema.
	Bind(ctx context.Context, name string, schema json.RawMessage) (wrong []string, err error)
	// Drop deletes the documents of an agent; their versions stay. by is the actor.
	Drop(ctx context.Context, name, by string) error
}

// Identities stores agents' keys and rights.
type Identities interface {
	// Grants returns what an agent may do; fault.NotFound if it is unknown.
	Grants(ctx context.Context, name string) (identity.Grants, error)
	// Admit registers the key of an agent, with only the grants that change adds, and reports whether it was
	// unknown before. For a known agent it calls change to edit the grants, with no other change in between;
	// a nil change leaves them as they are. fault.Conflict if the name has another key.
	Admit(ctx context.Context, name, public string, change func(*identity.Grants) error) (added bool, err error)
	// Forget removes an agent; fault.NotFound if it does not exist.
	Forget(ctx context.Context, name string) error
}

// How to handle the grants that an agent requests.
const (
	GrantAll    = "all"    // grant them
	GrantNone   = "none"   // install it with its present grants
	GrantRefuse = "refuse" // refuse to install it if it requests more than it has
)

// May returns why the caller may not perform the request, nil if they may. It is called once the agent's turn has
// come: the caller may have lost the role since, and the agent may have been granted more. A nil May permits
// everything.
type May func() error

func (m May) judge() error {
	if m == nil {
		return nil
	}
	return m()
}

// Request requests the installation of an agent, or of another version of one.
type Request struct {
	Name     string
	Entry    string    // which agent of the package, if it has several
	Upload   io.Reader // see unpack
	Grant    string    // GrantAll, GrantNone or GrantRefuse
	Memory   int64     // maximum resident memory in bytes; 0 keeps the current limit
	Priority int       // -1 keeps the current one
	By       string    // the actor, for the audit log
	May      May       // called before any uploaded code runs, and again before the new version is put in place
}

// MaxUpload is the maximum size of an upload in bytes.
const MaxUpload = upload.Max

// keepVersions is how many earlier versions are kept for Rollback.
const keepVersions = 3

// Install installs an agent, or another version next to its present one; the new version runs if the old one
// did. A failed installation leaves nothing behind. It returns when the new version is in place; a new agent
// is not started.
func (s *Supervisor) Install(ctx context.Context, req Request) (st Status, err error) {
	defer func() { s.audit.err(req.By, "agent.install", req.Name, err) }()
	if err := CheckName(req.Name); err != nil {
		return Status{}, err
	}
	if !s.serving() {
		return Status{}, fault.E("agent.Install", fault.Unavailable, req.Name, errNotRuns)
	}
	up, discard, err := s.uploads.Receive(req.Upload, req.By)
	if err != nil {
		return Status{}, err
	}
	st, err = s.installReceived(ctx, req, up)
	return st, errors.Join(err, discard())
}

// installReceived installs an upload. Grants and rights are checked here, in their current state.
func (s *Supervisor) installReceived(ctx context.Context, req Request, up upload.Received) (Status, error) {
	end, err := s.turn(ctx, req.Name)
	if err != nil {
		return Status{}, err
	}
	defer end()
	if err := req.May.judge(); err != nil {
		return Status{}, err
	}
	old, err := s.find(req.Name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Status{}, err
	}
	in := &installation{s: s, req: req, up: up, old: old, place: s.dir.of(req.Name)}
	if err := in.plan(ctx); err != nil {
		in.release()
		return Status{}, err
	}
	err = in.do(ctx)
	if err != nil {
		return Status{}, errors.Join(err, in.undo(context.WithoutCancel(ctx)))
	}
	s.audit.done(req.By, "agent.install", req.Name, fmt.Sprintf("version %d, release %s", in.rec.Version, in.rec.Program.Release))
	r, err := s.find(req.Name)
	if err != nil {
		return Status{}, err
	}
	return r.look(), nil
}

// installation is an installation in progress.
type installation struct {
	s        *Supervisor
	req      Request
	up       upload.Received
	old      *runner // nil for a new agent
	place    place.Place
	rec      Record
	admitted bool // this installation added the name to the registry
}

// plan chooses the version numbers.
func (in *installation) plan(ctx context.Context) error {
	s := in.s
	if in.old != nil {
		in.rec = in.old.look().Record
	} else {
		in.rec = Record{Name: in.req.Name, Priority: DefaultPriority}
		if s.guard.Users && s.guard.Reachable(s.tools.python()) {
			uid, err := s.claims.Choose(in.req.Name)
			if err != nil {
				return err
			}
			in.rec.UID = uid
		}
	}
	if ids := s.cfg.Install.Identities; ids != nil {
		_, err := ids.Grants(ctx, in.req.Name)
		switch {
		case err == nil && in.old == nil:
			return fault.E("agent.Install", fault.Conflict, in.req.Name, errors.New(
				"is the name of an agent that runs elsewhere; choose another with --name, or remove that one"))
		case err != nil && !fault.Is(err, fault.NotFound):
			return err
		}
	}
	newest := in.rec.Version
	for _, n := range in.versions() {
		newest = max(newest, n)
	}
	if in.old != nil && in.rec.Version > 0 {
		in.rec.Previous = append(slices.Clone(in.rec.Previous), in.rec.Version)
	}
	in.rec.Version, in.rec.Installed = newest+1, time.Now().UTC()
	in.rec.Memory = cmp.Or(in.req.Memory, in.rec.Memory)
	if in.req.Priority >= 0 {
		in.rec.Priority = min(in.req.Priority, MaxPriority)
	}
	return nil
}

// versions lists the versions that have a folder.
func (in *installation) versions() []int {
	entries, err := os.ReadDir(in.place.In(place.Versions))
	if err != nil {
		return nil
	}
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func (in *installation) do(ctx context.Context) error {
	s := in.s
	if err := s.guard.Folders(in.place, in.rec.UID); err != nil {
		return err
	}
	b := builder{s: s, place: in.place, dir: in.place.Version(in.rec.Version), uid: in.rec.UID}
	program, err := in.build(ctx, &b)
	if err != nil {
		return err
	}
	in.rec.Program = *program
	if _, err := in.wanted(); err != nil {
		return err
	}
	if err := errors.Join(s.guard.Seal(b.dir, s.guard.User(in.rec.UID)), writeJSON(filepath.Join(b.dir, place.Program), program)); err != nil {
		return fault.E("agent.Install", fault.Unavailable, b.dir, err)
	}
	wrong, err := s.bound.bind(ctx, in.req.Name, program.Schema)
	if err != nil {
		return err
	}
	if err := in.req.May.judge(); err != nil { // the build may have taken minutes
		return err
	}
	if err := in.admit(ctx); err != nil {
		return err
	}
	if err := in.switchTo(ctx); err != nil {
		return err
	}
	r, err := s.find(in.req.Name)
	if err == nil {
		r.noteWrong(wrong)
	}
	return err
}

// build builds the version once no other is being built, since a build takes much of the machine.
func (in *installation) build(ctx context.Context, b *builder) (*Program, error) {
	select {
	case in.s.building <- struct{}{}:
		defer func() { <-in.s.building }()
	case <-ctx.Done():
		return nil, fault.E("agent.Install", fault.KindOf(ctx.Err()), in.req.Name, fmt.Errorf("wait for another installation: %w", ctx.Err()))
	}
	return b.build(ctx, &in.up, in.req.Entry)
}

// wanted returns the grants that the agent requests.
func (in *installation) wanted() (identity.Grants, error) {
	var wants identity.Grants
	if len(in.rec.Program.Wants) > 0 {
		if err := json.Unmarshal(in.rec.Program.Wants, &wants); err != nil {
			return wants, fault.E("agent.Install", fault.Invalid, "wants", fmt.Errorf("cannot be read: %w; see the capabilities in the documentation", err))
		}
	}
	if problems := wants.Validate(); len(problems) > 0 {
		return wants, fault.E("agent.Install", fault.Invalid, "wants", errors.Join(problems...))
	}
	return wants, nil
}

// refuse returns why an agent that requests more than it now has is not installed.
func (in *installation) refuse(ctx context.Context, wants identity.Grants) error {
	var has identity.Grants
	if ids := in.s.cfg.Install.Identities; ids != nil {
		var err error
		if has, err = ids.Grants(ctx, in.req.Name); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	text, err := json.Marshal(wants)
	if err != nil {
		return fault.E("agent.Install", fault.Internal, "wants", err)
	}
	now, err := json.Marshal(has)
	if err != nil {
		return fault.E("agent.Install", fault.Internal, "wants", err)
	}
	if string(text) != "{}" && string(text) != string(now) {
		return fault.E("agent.Install", fault.Refused, in.req.Name, fmt.Errorf(
			"it wants %s; install it with --grant to allow all of it, or with --no-grant to allow it later with voltbus agent approve", text))
	}
	return nil
}

// admit creates the agent's key and registers it. Grants are written only if the agent is to get all that it
// requests: otherwise they keep their current state, whatever it was when the installation began.
func (in *installation) admit(ctx context.Context) error {
	wants, err := in.wanted()
	if err == nil && in.req.Grant == GrantRefuse {
		err = in.refuse(ctx, wants)
	}
	if err != nil {
		return err
	}
	key, err := identity.OpenKey(in.place.In(place.Key))
	if err != nil {
		return err
	}
	uid := in.s.guard.User(in.rec.UID)
	if err := in.s.guard.Own(in.place.In(place.Key), uid, uid); err != nil {
		return err
	}
	ids := in.s.cfg.Install.Identities
	if ids == nil {
		return nil
	}
	var change func(*identity.Grants) error
	var before identity.Grants
	if in.req.Grant == GrantAll {
		change = func(g *identity.Grants) error {
			before, *g = *g, wants
			return nil
		}
	}
	added, err := ids.Admit(ctx, in.req.Name, key.Public(), change)
	if err != nil {
		return err
	}
	in.admitted = added && in.old == nil
	if change != nil {
		in.s.audit.done(in.req.By, "grants.set", in.req.Name, fmt.Sprintf("before: %s; after: %s", inWords(&before), inWords(&wants)))
	}
	return nil
}

func inWords(g *identity.Grants) string {
	return cmp.Or(strings.Join(g.Capabilities(), ", "), "nothing")
}

// switchTo makes the new version the running one, and removes the oldest.
func (in *installation) switchTo(ctx context.Context) error {
	var drop []int
	if n := len(in.rec.Previous) - keepVersions; n > 0 {
		drop, in.rec.Previous = in.rec.Previous[:n], slices.Clone(in.rec.Previous[n:])
	}
	if in.old == nil {
		if err := save(in.place, in.rec); err != nil {
			return err
		}
		r, err := in.s.newRunner(in.place, in.rec)
		if err != nil {
			return err
		}
		r.journal.Note("info", "installed version 1")
		in.s.adopt(r) //nolint:contextcheck // it lives longer than the request
		return nil
	}
	_, err := in.s.change(ctx, in.req.Name, in.req.By, "agent.version", func(r *runner, _ context.Context) act {
		now := r.rec // keep what has changed meanwhile
		r.rec = in.rec
		r.rec.Process, r.rec.Autostart = now.Process, now.Autostart
		r.journal.Note("info", fmt.Sprintf("installed version %d", in.rec.Version))
		if !r.machine.wanted {
			return nothing
		}
		return r.machine.again(time.Now())
	})
	if err != nil {
		return err
	}
	for _, n := range drop {
		if err := os.RemoveAll(in.place.Version(n)); err != nil {
			in.old.journal.Note("warning", "an old version could not be removed: "+err.Error())
		}
	}
	return nil
}

// release frees the user of an agent that is new.
func (in *installation) release() {
	if in.old == nil {
		in.s.claims.Release(in.rec.UID)
	}
}

// undo removes what a failed installation left behind.
func (in *installation) undo(ctx context.Context) error {
	if in.old != nil {
		_, err := in.s.bound.bind(ctx, in.req.Name, in.old.look().Program.Schema)
		return errors.Join(err, os.RemoveAll(in.place.Version(in.rec.Version)))
	}
	_, err := in.s.bound.bind(ctx, in.req.Name, nil)
	if in.admitted {
		if forgot := in.s.cfg.Install.Identities.Forget(ctx, in.req.Name); !fault.Is(forgot, fault.NotFound) {
			err = errors.Join(err, forgot)
		}
	}
	err = errors.Join(err, in.s.dir.erase(in.place))
	in.release()
	return err
}

// Approve gives an agent all grants that it requests. version is the version whose requests were reviewed, 0 for any; fault.Conflict if
// another one was installed meanwhile.
func (s *Supervisor) Approve(ctx context.Context, name, by string, version int) (_ Status, err error) {
	defer func() { s.audit.err(by, "agent.approve", name, err) }()
	end, err := s.turn(ctx, name)
	if err != nil {
		return Status{}, err
	}
	defer end()
	r, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	st := r.look()
	if version != 0 && version != st.Version {
		return st, fault.E("agent.Approve", fault.Conflict, name, fmt.Errorf(
			"is at version %d now, and you saw what version %d wants; look at what it wants, and allow that", st.Version, version))
	}
	in := &installation{s: s, req: Request{Name: name, Grant: GrantAll, By: by}, old: r, place: r.place, rec: st.Record}
	if err := in.admit(ctx); err != nil {
		return st, err
	}
	s.audit.done(by, "agent.approve", name, string(st.Program.Wants))
	return st, nil
}
