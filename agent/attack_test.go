package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/agent/place"
	"voltbus/agent/upload"
	"voltbus/fault"
	"voltbus/identity"
)

// held is an upload whose sender stops in the middle until the test goes on.
type held struct {
	first, rest io.Reader
	stopped     chan struct{} // closed when the first half was read
	goOn        chan struct{}
	waiting     bool
}

func hold(t *testing.T, r io.Reader) *held {
	t.Helper()
	all, err := io.ReadAll(r)
	must(t, err)
	return &held{
		first: strings.NewReader(string(all[:len(all)/2])), rest: strings.NewReader(string(all[len(all)/2:])),
		stopped: make(chan struct{}), goOn: make(chan struct{}),
	}
}

func (h *held) Read(p []byte) (int, error) {
	if n, err := h.first.Read(p); err == nil {
		return n, nil
	}
	if !h.waiting {
		h.waiting = true
		close(h.stopped)
		<-h.goOn
	}
	return h.rest.Read(p)
}

// installHeld starts an installation whose upload is held in the middle.
func installHeld(t *testing.T, s *Supervisor, req Request) (goOn func() error) {
	t.Helper()
	body := hold(t, req.Upload)
	req.Upload = body
	ended := make(chan error, 1)
	go func() {
		_, err := s.Install(context.WithoutCancel(t.Context()), req)
		ended <- err
	}()
	<-body.stopped
	return func() error {
		close(body.goOn)
		return <-ended
	}
}

const wanting = "class Watch:\n    'doc'\n    wants = {'record': ['a/**'], 'publish': ['a/**']}\n"

func TestAttackAnInstallationDoesNotGiveBackGrantsThatWereTakenMeanwhile(t *testing.T) {
	for _, grant := range []string{GrantNone, GrantRefuse} {
		t.Run(grant, func(t *testing.T) {
			s, known := installer(t)
			req := request(t, "1.0", wanting)
			req.Grant = GrantAll
			_, err := s.Install(t.Context(), req)
			must(t, err)
			req = request(t, "2.0", wanting)
			req.Grant = grant
			goOn := installHeld(t, s, req)
			known.set("watch", identity.Grants{})
			err = goOn()
			if grant == GrantNone {
				must(t, err)
			} else if !fault.Is(err, fault.Refused) {
				t.Errorf("it wants more than it has now: %v", err)
			}
			if g := known.of("watch").Capabilities(); len(g) != 0 {
				t.Errorf("it has %q again", g)
			}
		})
	}
}

func TestAttackAnInstallationDoesNotUndoGrantsThatWereGivenMeanwhile(t *testing.T) {
	s, known := installer(t)
	_, err := s.Install(t.Context(), request(t, "1.0", wanting))
	must(t, err)
	goOn := installHeld(t, s, request(t, "2.0", wanting))
	known.set("watch", identity.Grants{Administer: true})
	must(t, goOn())
	if !known.of("watch").Administer {
		t.Error("what an administrator granted meanwhile is lost")
	}
}

// Its own name is no agent's until it is installed: somebody may register it meanwhile.
func TestAttackAFailedInstallationDoesNotRemoveAnAgentThatWasRegisteredMeanwhile(t *testing.T) {
	s, known := installer(t)
	known.refuse = func(name string) error {
		known.set(name, identity.Grants{Administer: true})
		return fault.E("test", fault.Conflict, name, errors.New("is registered with another key"))
	}
	if _, err := s.Install(t.Context(), request(t, "1.0", wanting)); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	if !known.of("watch").Administer {
		t.Error("the agent that was registered meanwhile is gone")
	}
}

func TestAttackWhatIsApprovedIsWhatWasSeen(t *testing.T) {
	s, known := installer(t)
	for _, version := range []string{"1.0", "2.0"} {
		_, err := s.Install(t.Context(), request(t, version, wanting))
		must(t, err)
	}
	if _, err := s.Approve(t.Context(), "watch", "person:ada", 1); !fault.Is(err, fault.Conflict) || len(known.of("watch").Record) != 0 {
		t.Errorf("the version before is approved: %v, %v", err, known.of("watch"))
	}
	if _, err := s.Approve(t.Context(), "watch", "person:ada", 2); err != nil || len(known.of("watch").Record) != 1 {
		t.Errorf("the version that was seen: %v, %v", err, known.of("watch"))
	}
}

func TestAttackASlowUploadHoldsUpNothingElse(t *testing.T) {
	s, known := installer(t)
	_, err := s.Install(t.Context(), request(t, "1.0", wanting))
	must(t, err)
	goOn := installHeld(t, s, request(t, "2.0", wanting))
	if _, err := s.Approve(t.Context(), "watch", "person:ada", 0); err != nil || len(known.of("watch").Record) != 1 {
		t.Errorf("an approval of the same agent: %v, %v", err, known.of("watch"))
	}
	other := request(t, "1.0", wanting)
	other.Name = "other"
	_, err = s.Install(t.Context(), other)
	must(t, err)
	must(t, s.Remove(t.Context(), Removal{Name: "other", By: "person:ada"}))
	must(t, goOn())
}

// The code of an agent that got a grant while it was uploaded is not put in place by who may not have the grant.
func TestAttackWhoMayInstallIsJudgedAfterTheUploadAndAfterTheBuild(t *testing.T) {
	s, _ := installer(t)
	_, err := s.Install(t.Context(), request(t, "1.0", wanting))
	must(t, err)
	for judged, left := range map[string]int{"after the upload": 1, "after the build": 2} {
		t.Run(judged, func(t *testing.T) {
			req := request(t, "2.0", wanting)
			req.May = func() error {
				if left--; left == 0 {
					return fault.E("test", fault.Refused, "watch", errors.New("has grants that engineers do not have"))
				}
				return nil
			}
			if err := installHeld(t, s, req)(); !fault.Is(err, fault.Refused) {
				t.Errorf("it is installed: %v", err)
			}
			if st, err := s.Get("watch"); err != nil || st.Version != 1 {
				t.Errorf("%+v %v", st, err)
			}
			if versions, err := os.ReadDir(filepath.Join(string(s.dir), "watch", place.Versions)); err != nil || len(versions) != 1 {
				t.Errorf("left: %v %v", versions, err)
			}
		})
	}
	if all, err := os.ReadDir(string(s.dir)); err != nil || len(all) != 1 {
		t.Errorf("left: %v %v", all, err)
	}
}

func TestWhatAnInstallationGrantsIsAudited(t *testing.T) {
	s, known := installer(t)
	var told []string
	s.audit.keep = func(actor, action, name, text string, _ bool) {
		told = append(told, strings.Join([]string{actor, action, name, text}, " "))
	}
	_, err := s.Install(t.Context(), request(t, "1.0", wanting))
	must(t, err)
	known.set("watch", identity.Grants{Administer: true})
	req := request(t, "2.0", wanting)
	req.Grant = GrantAll
	_, err = s.Install(t.Context(), req)
	must(t, err)
	var grants []string
	for _, line := range told {
		if strings.Contains(line, "grants.set") {
			grants = append(grants, line)
		}
	}
	want := "person:ada grants.set watch before: administer; after: publish a/**, record a/**"
	if len(grants) != 1 || grants[0] != want {
		t.Errorf("%q, want %q", grants, want)
	}
}

func TestAnUploadThatACrashCutShortIsRemoved(t *testing.T) {
	data := dataDir(t)
	for _, name := range []string{upload.Prefix + "1", removedPrefix + "watch-1"} {
		must(t, os.MkdirAll(filepath.Join(data, place.Agents, name, upload.SourceDir), 0o700))
	}
	s, err := Open(config(data))
	must(t, err)
	must(t, s.Close())
	if left, err := os.ReadDir(filepath.Join(data, place.Agents)); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
