package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"voltbus/agent/jail"
	"voltbus/agent/journal"
	"voltbus/agent/place"
	"voltbus/internal/seccomp"
)

func TestAnAgentSeesOnlyWhatIsItsOwn(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		uses   []string
		asRoot bool
	}{
		{"with all that there is", func(*Config) {}, []string{"user", "landlock"}, true},
		{"with Landlock alone", func(c *Config) { c.Users.Count = 0 }, []string{"landlock"}, false},
		{"with a user alone", func(*Config) {}, []string{"user"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.asRoot && os.Getuid() != 0 {
				t.Skip("only root gives agents users of their own")
			}
			if slices.Contains(tt.uses, "landlock") && jail.Version() == 0 {
				t.Skip("this kernel has no Landlock")
			}
			data := dataDir(t)
			for _, file := range []string{"node.nk", "admin.token", "catalog.db"} {
				must(t, os.WriteFile(filepath.Join(data, file), []byte("secret"), 0o644))
			}
			plant(t, data, "other", forever)
			must(t, os.MkdirAll(filepath.Join(data, place.Agents, "other", place.Work), 0o755))
			must(t, os.WriteFile(filepath.Join(data, place.Agents, "other", place.Work, "notes"), []byte("secret"), 0o644))
			script := fmt.Sprintf(`
for f in ../key.nk; do cat $f >/dev/null 2>&1 && echo "reads $f"; done
for f in node.nk admin.token catalog.db agents/other/key.nk agents/other/work/notes agents/other/agent.json; do
  cat %[1]s/$f >/dev/null 2>&1 && echo "reads $f"
done
ls %[1]s >/dev/null 2>&1 && echo "lists data"
ls %[1]s/agents >/dev/null 2>&1 && echo "lists agents"
echo x >%[1]s/agents/other/work/new 2>/dev/null && echo "writes others"
echo x >../versions/new 2>/dev/null && echo "writes versions"
echo x >../log/new 2>/dev/null && echo "writes log"
echo x >own && echo "writes own"
echo x >$TMPDIR/own && echo "writes tmp"
echo "done"; %[2]s`, data, forever)
			plant(t, data, "spy", script)
			cfg := config(data)
			tt.change(&cfg)
			s, err := Open(cfg)
			must(t, err)
			if len(tt.uses) == 1 && tt.uses[0] == "user" {
				s.guard.Landlock = false
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			defer func() { cancel(); must(t, <-done) }()
			printed(t, s, "spy", "done")
			found, err := s.agents["spy"].journal.Search(journal.Filter{})
			must(t, err)
			var got []string
			for _, e := range found {
				if e.Stream == journal.Stdout {
					got = append(got, e.Message)
				}
			}
			want := []string{"reads ../key.nk", "writes own", "writes tmp", "done"}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			uses := tt.uses
			if seccomp.Available() {
				uses = append(uses, "seccomp")
			}
			if st, _ := s.Get("spy"); !slices.Equal(st.Isolated, uses) {
				t.Errorf("the status says %v", st.Isolated)
			}
		})
	}
}

func TestRequiredIsolationThatIsMissingStopsTheStart(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", forever)
	cfg := config(data)
	cfg.Isolation = Require
	s, err := Open(cfg)
	must(t, err)
	s.guard.Landlock, s.guard.Users = false, false
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() { cancel(); must(t, <-done) }()
	st := await(t, s, "a", "refused", func(st *Status) bool { return st.Last != nil })
	if st.Last.Reason != "unable" || !strings.Contains(st.Text, "agents.isolation is require") {
		t.Errorf("%+v", st)
	}
}
