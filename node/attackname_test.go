package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/auditlog"
)

// What a name of 3,000 bytes may lead to at most: bytes of a refusal, and of a line of the node's log and of its audit log.
const (
	longName   = 3000
	mostAnswer = 2500
	mostLine   = 5000
)

// described is what the test reads of the API's document.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Ref  string `yaml:"$ref"`
			Name string `yaml:"name"`
			In   string `yaml:"in"`
		} `yaml:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Properties map[string]any `yaml:"properties"`
				} `yaml:"schema"`
			} `yaml:"content"`
		} `yaml:"requestBody"`
	} `yaml:"paths"`
	Components struct {
		Parameters map[string]struct {
			Name string `yaml:"name"`
			In   string `yaml:"in"`
		} `yaml:"parameters"`
	} `yaml:"components"`
}

// safe collects what a log says, from several goroutines.
type safe struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// Each operation gets a long name in its path, in each parameter, and in each field of its body.
func TestAttackLongNamesAreShortenedWhereverTheyAreShown(t *testing.T) {
	var log safe
	r := runLogged(t, load(t, t.TempDir(), listenAnywhere+zones), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	_, admin := r.person("ada", identity.Administrator)
	text, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d described
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	long, asked := strings.Repeat("n", longName), 0
	for path, operations := range d.Paths {
		for method, op := range operations {
			var names []string
			inPath := path
			for _, p := range op.Parameters {
				if ref, is := strings.CutPrefix(p.Ref, "#/components/parameters/"); is {
					p.Name, p.In = d.Components.Parameters[ref].Name, d.Components.Parameters[ref].In
				}
				switch p.In {
				case "path":
					inPath = strings.Replace(inPath, "{"+p.Name+"}", long, 1)
				case "query":
					names = append(names, p.Name)
				}
			}
			body := map[string]any{}
			for name := range op.RequestBody.Content["application/json"].Schema.Properties {
				body[name] = long
			}
			for _, query := range append(slices.Clone(names), "", long) {
				asked++
				target := inPath
				if query != "" {
					target += "?" + query + "=" + long
				}
				r.tryName(admin, strings.ToUpper(method), target, body)
			}
		}
	}
	if asked < 300 {
		t.Errorf("only %d requests were made", asked)
	}
	page, err := client.Do(t.Context(), r.Client, auditlog.List, client.AuditFilter{Limit: 1000}.Page())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries {
		text, err := json.Marshal(e)
		if err != nil || len(text) > mostLine {
			t.Errorf("the audit log has %d bytes of %s: %.300s…, %v", len(text), e.Action, text, err)
		}
	}
	r.halt()
	for line := range strings.Lines(log.text.String()) {
		if len(line) > mostLine {
			t.Errorf("the log has a line of %d bytes: %.300s…", len(line), line)
		}
	}
}

// tryName makes one request, also in the name of a program with a long name.
func (r *running) tryName(token, method, path string, body map[string]any) {
	t := r.t
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream ends
	req, err := http.NewRequestWithContext(ctx, method, r.HTTPAddr()+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", strings.Repeat("n", longName))
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusBadRequest {
		return // what is there is shown as it is
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) > mostAnswer {
		t.Errorf("%s %.60s: %s with %d bytes: %.300s…", method, path, resp.Status, len(answer), answer)
	}
}
