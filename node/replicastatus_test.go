package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation"
	clusterop "voltbus/operation/cluster"
	"voltbus/operation/cluster/report"
)

func (p *replicaProcess) cluster(ctx context.Context) (report.Cluster, error) {
	return client.Do(ctx, p.Client, clusterop.Status, operation.None{})
}

// record sends samples until one answer confirms them.
func (p *replicaProcess) record(t *testing.T, point string, values ...int) {
	t.Helper()
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf(`{"point":%q,"value":%d}`, point, v))
	}
	eventually(t, "samples are acknowledged", func() bool {
		ctx, stop := context.WithTimeout(t.Context(), answerWait)
		defer stop()
		in, err := p.SendSamples(ctx, client.Body{Media: "application/json", Text: []byte(`{"samples":[` + strings.Join(list, ",") + `]}`)})
		return err == nil && in.Accepted == len(values)
	})
}

// Each replica says of all how they are, and that nothing was lost only when it is so.
func TestReplicasSayHowTheyAreAndWhetherAnythingWasLost(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	s.processes["r1"].record(t, "a/b", 1, 2, 3)
	s.processes["r2"].record(t, "a/c", 4)
	for _, name := range s.names {
		eventually(t, name+" sees that all is stored", func() bool {
			c, err := s.processes[name].cluster(t.Context())
			return err == nil && c.State == "ok" && c.Lossless && c.Confirmed >= 4 && strings.HasPrefix(c.Ledger, "Nothing acknowledged was lost: all ") && c.Reached == 3
		})
	}
	c, err := s.processes["r2"].cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Replicas {
		if r.Log.Leader == "" || r.DiskSize == 0 || r.Store != "files" || r.Started == nil || len(r.Copies) != 2 || r.State != "member" {
			t.Errorf("told about a replica: %+v", r)
		}
	}
	s.kill("r3")
	s.processes["r1"].record(t, "a/b", 5)
	eventually(t, "the loss of one is told", func() bool {
		c, err := s.processes["r1"].cluster(t.Context())
		h, healthErr := s.processes["r1"].Health(t.Context())
		return err == nil && healthErr == nil && c.State == "degraded" && !c.Lossless && !c.Replicas[2].Reached &&
			strings.HasPrefix(c.Sentence, "2 of 3 replicas; r3 is not reached since ") && strings.HasSuffix(c.Sentence, ": everything is acknowledged by two.") &&
			strings.HasPrefix(c.Ledger, "What r3 acknowledged since then is not known here; all ") && concerned(h, "replicas", "warning")
	})
	s.kill("r2")
	eventually(t, "a minority is told", func() bool {
		c, err := s.processes["r1"].cluster(t.Context())
		h, healthErr := s.processes["r1"].Health(t.Context())
		return err == nil && healthErr == nil && c.State == "minority" && strings.HasPrefix(c.Sentence, "This replica reaches 1 of 3") && concerned(h, "replicas", "critical")
	})
	ctx, stop := context.WithTimeout(t.Context(), answerWait)
	defer stop()
	_, err = s.processes["r1"].SendSamples(ctx, client.Body{Media: "application/json", Text: []byte(`{"samples":[{"point":"a/b","value":6}]}`)})
	if err == nil || !strings.Contains(err.Error(), "reaches 1 of 3") {
		t.Errorf("the first request at a minority is answered %v", err)
	}
	s.start(t, "r2", "r3")
	eventually(t, "nothing was lost", func() bool {
		c, err := s.processes["r3"].cluster(t.Context())
		h, healthErr := s.processes["r3"].Health(t.Context())
		return err == nil && healthErr == nil && c.Lossless && c.Confirmed >= 5 && !concerned(h, "replicas", "")
	})
	s.balanced(t)
}

// concerned reports whether a part of a node has a concern, of a severity if one is given.
func concerned(h answer.Health, part, severity string) bool {
	for _, c := range h.Concerns {
		if c.Part == part && (severity == "" || c.Severity == severity) {
			return true
		}
	}
	return false
}
