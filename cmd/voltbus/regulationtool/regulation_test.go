package regulationtool_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/cmd/voltbus/regulationtool"
)

func run(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := regulationtool.New()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.Execute()
	return out.String(), err
}

func TestAGeneratedSignalIsScored(t *testing.T) {
	text, err := run("signal", "--length", "2h", "--seed", "3")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "regd.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run("score", file, file)
	if err != nil || !strings.Contains(out, "The composite score 1.000 qualifies") {
		t.Error(out, err)
	}
	// A load whose power is the signal consumes more where the grid needs more power.
	out, err = run("score", file, file, "--baseline", "0", "--capacity", "1")
	if err != nil || !strings.Contains(out, "does not qualify") {
		t.Error(out, err)
	}
	out, err = run("score", file, file, "--json")
	if err != nil || !strings.HasPrefix(out, `{"correlation":1,`) {
		t.Error(out, err)
	}
}

func TestWrongUseIsSaid(t *testing.T) {
	for want, args := range map[string][]string{
		"no such file":  {"score", "none.csv", "none.csv"},
		"write both --": {"score", "a", "b", "--capacity", "5"},
		"such as 40m":   {"signal", "--length", "1s"},
	} {
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

func TestPricesOfAServerBecomeASignal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]string{
			"/o/auth/token": `{"access_token": "t", "token_type": "Bearer", "expires_in": 60}`,
			"/o/programs":   `[{"id": "p", "programName": "tariff"}]`,
			"/o/events": `[{"id": "e", "programID": "p", "intervalPeriod": {"start": "2026-07-01T00:00:00Z", "duration": "PT1H"}, "intervals":
[{"id": 0, "payloads": [{"type": "PRICE", "values": [0.1]}]}, {"id": 1, "payloads": [{"type": "PRICE", "values": [0.3]}]}]}]`,
		}[r.URL.Path]
		if r.URL.Path == "/o/auth/token" && r.FormValue("client_secret") != "pass" {
			body = "{}"
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := []string{"openadr", server.URL + "/o", "--client", "ven", "--secret-file", secret}
	if text, err := run(client...); err != nil || text != "tariff\tp\n" {
		t.Errorf("%q, %v", text, err)
	}
	ask := append(client, "--program", "tariff", "--from", "2026-07-01T00:00:00Z", "--length", "3h", "--step", "1h")
	if text, err := run(ask...); err != nil || text != "time,value\n2026-07-01T00:00:00Z,0.1\n2026-07-01T01:00:00Z,0.3\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := run(append(ask, "--low", "0", "--high", "0.2")...); err != nil || text != "time,value\n2026-07-01T00:00:00Z,0\n2026-07-01T01:00:00Z,1\n" {
		t.Errorf("%q, %v", text, err)
	}
	for want, args := range map[string][]string{
		"no program of this name": append(client, "--program", "none"),
		"is not below high":       append(ask, "--low", "3"),
		"write a length":          append(client, "--step", "0s"),
		"write a time such as":    append(client, "--from", "today"),
	} {
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
