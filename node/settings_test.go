package node_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	devicesop "voltbus/operation/devices"
)

// call sends JSON with a token and reads the answer into out, if it is one of success, or else
// into the problem.
func (r *running) call(token, method, path string, body, out any) answer.Problem {
	r.t.Helper()
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		content = strings.NewReader(string(b))
	}
	req, err := http.NewRequestWithContext(context.Background(), method, r.HTTPAddr()+"/api/v1"+path, content)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var p answer.Problem
	if resp.StatusCode >= 300 {
		out = &p
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			r.t.Fatalf("%s %s: %d %.200s: %v", method, path, resp.StatusCode, b, err)
		}
	}
	return p
}

// token returns the token of the local administrator.
func (r *running) token() string {
	r.t.Helper()
	token, err := identity.ReadToken(filepath.Join(r.Node.Config().Node.Data, identity.AdminTokenFile))
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

type m = map[string]any

func TestTheConfigurationIsChangedThroughTheAPI(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+zones))
	file := filepath.Join(dir, "voltbus.yaml")
	var c answer.Config
	r.call(r.token(), "GET", "/config", nil, &c)
	if !c.Applied || c.File != file || len(c.History) != 0 || len(c.Restart) != 0 || !strings.Contains(c.Text, "site/zone1") {
		t.Fatalf("the configuration is %+v", c)
	}
	next := strings.Replace(c.Text, "site/meter", "site/other", 1) + "# a word\nlog: {max_bytes: 32MiB}\n"
	var check answer.ConfigCheck
	r.call(r.token(), "POST", "/config/check", m{"text": next}, &check)
	want := answer.ConfigChanges{
		Added: []string{"site/other"}, Removed: []string{"site/meter"}, Changed: []string{}, Restart: []string{"log"},
		Words: []string{
			"device site/other is added", "device site/meter is removed; its history stays",
			"the section log changes when the node is started again",
		},
	}
	if diff := cmp.Diff(answer.ConfigCheck{Problems: []answer.ConfigProblem{}, Changes: want}, check); diff != "" {
		t.Error("check (-want +got):\n" + diff)
	}
	var applied answer.ConfigApplied
	r.call(r.token(), "PUT", "/config", m{"text": next, "version": c.Version}, &applied)
	if diff := cmp.Diff(want, applied.Changes); diff != "" {
		t.Error("changes (-want +got):\n" + diff)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != next {
		t.Errorf("the file holds %q, %v", got, err)
	}
	var after answer.Config
	r.call(r.token(), "GET", "/config", nil, &after)
	if !after.Applied || after.Version != applied.Version || len(after.History) != 2 || after.History[0].User != "admin" ||
		cmp.Diff([]string{"log"}, after.Restart) != "" {
		t.Errorf("after the change it is %+v", after)
	}
	var old answer.ConfigText
	r.call(r.token(), "GET", "/config/versions/"+c.Version, nil, &old)
	if old.Text != c.Text || old.User != "" {
		t.Errorf("the old text is %+v", old)
	}
	devices, err := client.Do(context.Background(), r.Client, devicesop.List, struct{}{})
	if err != nil || len(devices.Devices) != 2 || devices.Devices[0].Path != "site/other" {
		t.Errorf("devices are %+v, %v", devices, err)
	}
}

func TestAConfigurationThatCannotBeAppliedChangesNothing(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+zones))
	var c answer.Config
	r.call(r.token(), "GET", "/config", nil, &c)
	engineer, err := r.Node.Issue(context.Background(), identity.User{Name: "eve", Role: identity.Engineer})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		token string
		body  m
		kind  string
		want  string
	}{
		"a text of another version": {r.token(), m{"text": c.Text + "#", "version": "0123456789abcdef"}, "conflict", "read it again"},
		"no version":                {r.token(), m{"text": c.Text}, "invalid", "is missing"},
		"a wrong text":              {r.token(), m{"text": c.Text + "\ndevcies: []\n", "version": c.Version}, "invalid", `did you mean "devices"?`},
		"a text that is no YAML":    {r.token(), m{"text": "\x00", "version": c.Version}, "invalid", "UTF-8"},
		"a number for a text":       {r.token(), m{"text": 5, "version": c.Version}, "invalid", "must be a string"},
		"another port, by an engineer": {
			engineer, m{"text": strings.Replace(c.Text, "bus: 127.0.0.1:0", "bus: off", 1), "version": c.Version}, "refused", "listen need an administrator",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := r.call(tt.token, "PUT", "/config", tt.body, nil)
			if p.Kind != tt.kind || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("problem %+v, want %s with %q", p, tt.kind, tt.want)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml")); err != nil || string(got) != c.Text {
				t.Errorf("the file holds %q, %v", got, err)
			}
		})
	}
	var applied answer.ConfigApplied
	if p := r.call(engineer, "PUT", "/config", m{"text": c.Text + "# mine\n", "version": c.Version}, &applied); p.Kind != "" {
		t.Errorf("an engineer may not change a comment: %+v", p)
	}
}

func TestProblemsAreAllShownWithTheirPlaces(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere))
	if err := os.WriteFile(filepath.Join(dir, "secret.token"), []byte("hunter2\nx,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "log: {max_bytes: 1}\ninclude: [secret.token]\ndevices:\n  - {path: a, driver: fax}\n  - path: b\n    driver: modbus\n    config: {address: x, registry: secret.token}\n"
	var check answer.ConfigCheck
	r.call(r.token(), "POST", "/config/check", m{"text": text}, &check)
	places := map[string]answer.ConfigProblem{}
	for _, p := range check.Problems {
		places[p.File+" "+p.Path] = p
		if strings.Contains(p.Detail, "hunter") {
			t.Errorf("a secret is shown: %+v", p)
		}
	}
	if p := places[" log.max_bytes"]; p.Line != 1 || p.Column != 7 {
		t.Errorf("the size stands at %+v", p)
	}
	if p := places[" devices[0].driver"]; p.Line != 4 || p.Column != 15 {
		t.Errorf("the driver stands at %+v", p)
	}
	if p := places["secret.token "]; p.Line == 0 || p.Detail == "" {
		t.Errorf("there is no problem of the other file in %+v", check.Problems)
	}
}

func TestAChangeByHandIsShownAndNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+zones))
	var c, after answer.Config
	r.call(r.token(), "GET", "/config", nil, &c)
	file := filepath.Join(dir, "voltbus.yaml")
	hand := strings.Replace(c.Text, "site/meter", "site/hand", 1)
	if err := os.WriteFile(file, []byte(hand), 0o600); err != nil {
		t.Fatal(err)
	}
	r.call(r.token(), "GET", "/config", nil, &after)
	if after.Applied || after.Text != hand {
		t.Errorf("after a change by hand it is %+v", after)
	}
	if p := r.call(r.token(), "PUT", "/config", m{"text": c.Text, "version": c.Version}, nil); p.Kind != "conflict" {
		t.Errorf("the change by hand is written over: %+v", p)
	}
}
