package replicated

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"voltbus/agent"
	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// Install installs an agent here, and has all other replicas install it, too; see agent.Supervisor.
func (a *Agents) Install(ctx context.Context, req agent.Request) (agent.Status, error) {
	if a.cfg.Store == nil {
		return a.Supervisor.Install(ctx, req)
	}
	copied, err := os.CreateTemp(filepath.Join(a.cfg.Data, place.Agents), ".package-")
	if err != nil {
		return agent.Status{}, fault.E("replicated.Install", fault.Unavailable, req.Name, err)
	}
	defer func() {
		_ = copied.Close()
		_ = os.Remove(copied.Name()) // the next start does it otherwise
	}()
	req.Upload = io.TeeReader(req.Upload, copied)
	st, err := a.Supervisor.Install(ctx, req)
	if err != nil {
		return st, err
	}
	if _, err = copied.Seek(0, io.SeekStart); err == nil {
		err = a.publish(ctx, &req, &st, copied)
	}
	if err != nil {
		return st, fault.E("replicated.Install", fault.Unavailable, req.Name, fmt.Errorf("is installed here only: %w; install it again", err))
	}
	a.want()
	return st, nil
}

// publish tells the other replicas of an agent that was installed here.
func (a *Agents) publish(ctx context.Context, req *agent.Request, st *agent.Status, from io.Reader) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	seed, err := os.ReadFile(a.place(req.Name).In(place.Key))
	if err != nil {
		return err
	}
	now, err := a.state(ctx, req.Name)
	if err != nil {
		return err
	}
	before := a.serial(req.Name)
	serial := before + 1
	if err := a.cfg.Store.Store(ctx, packageOf(req.Name, serial), from); err != nil {
		return err
	}
	err = a.update(ctx, req.Name, func(r *record) {
		r.Serial, r.Entry, r.Seed, r.Memory, r.Priority = serial, req.Entry, strings.TrimSpace(string(seed)), st.Memory, st.Priority
		r.Wanted, r.Autostart, r.State = st.Wanted, st.Autostart, now
	})
	if err == nil {
		a.seen[req.Name] = now
		err = a.setSerial(req.Name, serial)
	}
	if err == nil && before > 0 {
		a.discard(ctx, req.Name, before)
	}
	return err
}

// Remove removes an agent here and at the other replicas, see agent.Supervisor.
func (a *Agents) Remove(ctx context.Context, what agent.Removal) error {
	if a.cfg.Store == nil {
		return a.Supervisor.Remove(ctx, what)
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	serial := a.serial(what.Name)
	if serial > 0 {
		if err := a.cfg.Store.Delete(ctx, what.Name); err != nil {
			return err
		}
	}
	err := a.Supervisor.Remove(ctx, what)
	if serial > 0 {
		a.discard(ctx, what.Name, serial)
	}
	a.wantLocked()
	return err
}

// discard drops a package that is not installed any more.
func (a *Agents) discard(ctx context.Context, name string, serial uint64) {
	if err := a.cfg.Store.Discard(ctx, packageOf(name, serial)); err != nil {
		a.cfg.Log.WarnContext(ctx, "a package that is not installed any more stays at the replicas", slog.String("agent", name), slog.Any("err", err))
	}
}

// install installs the package of another replica.
func (a *Agents) install(ctx context.Context, name string, r *record) error {
	if err := a.takeKey(name, r.Seed); err != nil {
		return err
	}
	err := a.cfg.Store.Load(ctx, packageOf(name, r.Serial), func(from io.Reader) error {
		_, err := a.Supervisor.Install(ctx, agent.Request{
			Name: name, Entry: r.Entry, Upload: from, Grant: agent.GrantNone, Memory: r.Memory, Priority: r.Priority, By: "node",
		})
		return err
	})
	if err == nil {
		err = a.setSerial(name, r.Serial)
	}
	return err
}

// takeKey puts the key of an agent in place before it is installed.
func (a *Agents) takeKey(name, seed string) error {
	file := a.place(name).In(place.Key)
	if _, err := os.Stat(file); err == nil {
		return nil // another one than that of the record is refused by the registry
	}
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = (atomicfile.Writer{}).Write(file, []byte(seed+"\n"), 0o600)
	}
	if err != nil {
		return fault.E("replicated.takeKey", fault.Unavailable, file, err)
	}
	return nil
}
