package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"voltbus/agent/place"
)

func TestTheAuditHearsThatAnAgentEndedAsNobodyWanted(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", `exit 3`)
	cfg := config(data)
	heard := make(chan string, 100)
	cfg.Audit = func(actor, action, name, text string, failed bool) {
		heard <- fmt.Sprint(actor, " ", action, " ", name, " ", text, " ", failed)
	}
	_, stop := run(t, cfg)
	defer stop()
	if got := <-heard; got != "node agent.ended a ended by itself with exit code 3 true" {
		t.Errorf("it hears %q", got)
	}
}

func TestTheAuditHears(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", forever)
	cfg := config(data)
	var heard []string
	cfg.Audit = func(actor, action, name, text string, _ bool) {
		heard = append(heard, actor+" "+action+" "+name+" "+text)
	}
	s, stop := run(t, cfg)
	await(t, s, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	_, err := s.Stop(t.Context(), "a", "person:ada")
	must(t, err)
	must(t, s.Remove(t.Context(), Removal{Name: "a", By: "person:ada"}))
	stop()
	want := []string{"person:ada agent.stop a ", "person:ada agent.stop a ", "person:ada agent.remove a "}
	if !slices.Equal(heard, want) {
		t.Errorf("%q", heard)
	}
}

// What could not be done is written as that, and a start only once there is a process.
func TestTheAuditHearsWhatFailed(t *testing.T) {
	data := dataDir(t)
	plantArgs(t, data, "a", nil, func(r *Record) { r.Wanted = false })
	cfg := config(data)
	var heard []string
	cfg.Audit = func(actor, action, name, text string, failed bool) {
		if failed && actor == "person:ada" {
			heard = append(heard, action+" "+name+" "+text)
		} else {
			t.Errorf("it hears %s %s %s %v", actor, action, text, failed)
		}
	}
	s, stop := run(t, cfg)
	st, err := s.Start(t.Context(), "a", "person:ada")
	must(t, err)
	if st.Process.PID != 0 {
		t.Errorf("it runs: %+v", st)
	}
	_, err = s.Restart(t.Context(), "a", "person:ada")
	must(t, err)
	_, unknown := s.Approve(t.Context(), "b", "person:ada", 0)
	_, refused := s.Install(t.Context(), Request{Name: "c", Upload: strings.NewReader("no archive"), By: "person:ada"})
	if gone := s.Remove(t.Context(), Removal{Name: "b", By: "person:ada"}); unknown == nil || refused == nil || gone == nil {
		t.Errorf("%v, %v, %v", unknown, refused, gone)
	}
	stop()
	for i, want := range []string{
		"agent.start a could not be started", "agent.restart a could not be started", "agent.approve b ", "agent.install c ", "agent.remove b ",
	} {
		if i >= len(heard) || !strings.HasPrefix(heard[i], want) {
			t.Fatalf("%q, want %q", heard, want)
		}
	}
}

// A program that the kernel does not start is no start that ended.
func TestTheAuditHearsThatAProgramCannotBeStarted(t *testing.T) {
	for why, mode := range map[string]os.FileMode{"no such file or directory": 0, "permission denied": 0o644, "exec format error": 0o755} {
		t.Run(why, func(t *testing.T) {
			data := dataDir(t)
			program := place.Place(filepath.Join(data, place.Agents, "a")).In(place.Versions, "1", "program")
			plantArgs(t, data, "a", []string{program}, func(r *Record) { r.Wanted = false })
			if mode != 0 {
				must(t, os.WriteFile(program, []byte("no program"), mode))
			}
			cfg := config(data)
			var heard []string
			cfg.Audit = func(actor, action, name, text string, failed bool) {
				heard = append(heard, fmt.Sprint(actor, " ", action, " ", name, " ", failed, " ", text))
			}
			s, stop := run(t, cfg)
			st, err := s.Start(t.Context(), "a", "person:ada")
			must(t, err)
			if st.State != BackingOff || st.Process.PID != 0 || st.Last == nil || st.Last.Reason != "unable" || !strings.Contains(st.Last.Text, why) {
				t.Errorf("it is %+v, last %+v", st, st.Last)
			}
			stop()
			if len(heard) != 1 || !strings.HasPrefix(heard[0], "person:ada agent.start a true could not be started") || !strings.Contains(heard[0], why) {
				t.Errorf("the audit hears %q", heard)
			}
		})
	}
}
