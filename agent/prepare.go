package agent

import (
	"cmp"
	"errors"
	"os"

	"voltbus/agent/guard"
	"voltbus/agent/jail"
	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// preparation tells how processes of agents are started, and creates what they need.
type preparation struct {
	cfg   *Config
	guard *guard.Guard
}

// memory returns the memory limit of an agent.
func (a *preparation) memory(r *Record) int64 { return cmp.Or(r.Memory, a.cfg.Memory) }

// mark is an environment variable of all processes of an agent.
func mark(p place.Place) string { return "VOLTBUS_DIR=" + p.In(place.Work) }

// passedNames are the environment variables that agents inherit from the node.
var passedNames = []string{
	"LANG", "LC_ALL", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment returns the environment of an agent's processes.
func environment(p place.Place) []string {
	env := []string{
		"PATH=" + "/usr/local/bin:/usr/bin:/bin", "HOME=" + p.In(place.Work), "TMPDIR=" + p.In(place.Work, "tmp"),
		"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range passedNames {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// spec returns the spec of an agent's process.
func (a *preparation) spec(p place.Place, rec *Record) (jail.Spec, []string, error) {
	spec := a.guard.Spec(p, rec.UID)
	if len(rec.Program.Args) == 0 {
		return spec, nil, fault.E("agent.start", fault.Corrupt, rec.Name, errors.New("has no version to run; install it again"))
	}
	if err := a.folders(p, rec); err != nil {
		return spec, nil, err
	}
	spec.Args, spec.Dir = rec.Program.Args, p.In(place.Work)
	spec.Show = []string{p.Version(rec.Version), p.In(place.Key), p.In(place.CA)}
	spec.Read = append(spec.Read, guard.Interpreter(rec.Program.Args[0])...)
	spec.Nice, spec.Files = a.cfg.Nice, uint64(a.cfg.Files)
	if limit := a.memory(rec); limit > 0 {
		// A backstop for growth faster than the measurements: private memory, most of which an interpreter
		// never touches.
		spec.Data = uint64(2*limit + 256<<20)
	}
	env := append(environment(p), "VOLTBUS_AGENT="+rec.Name, "VOLTBUS_KEY="+p.In(place.Key), "VOLTBUS_CA="+p.In(place.CA), mark(p))
	if a.cfg.Bus != nil {
		env = append(env, "VOLTBUS_BUS="+a.cfg.Bus())
	}
	return spec, env, nil
}

// folders creates the content of the process's folders.
func (a *preparation) folders(p place.Place, rec *Record) error {
	if err := a.guard.Folders(p, rec.UID); err != nil {
		return err
	}
	tmp := p.In(place.Work, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fault.E("agent.start", fault.Unavailable, tmp, err)
	} else if err == nil {
		if err := a.guard.Own(tmp, a.guard.User(rec.UID), a.guard.User(rec.UID)); err != nil {
			return err
		}
	}
	if a.cfg.CA == "" {
		return nil
	}
	ca, err := os.ReadFile(a.cfg.CA)
	if err == nil {
		err = atomicfile.Writer{}.Write(p.In(place.CA), ca, 0o644)
	}
	if err != nil {
		return fault.E("agent.start", fault.Unavailable, a.cfg.CA, err)
	}
	return nil
}
