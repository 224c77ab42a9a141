package node_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"voltbus/api/answer"
)

func TestTheBusIsInspected(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+zones))
	var b answer.Bus
	r.call(r.token(), "GET", "/bus", nil, &b)
	if b.Total < 3 || len(b.Connections) != b.Total || b.Connections[0].Role != "node" || b.Connections[0].Who != "node" || len(b.Connections[0].Key) != 12 {
		t.Errorf("the bus is %+v", b)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.HTTPAddr()+"/api/v1/bus/stream?subject=live.scan.site.*", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var message answer.BusMessage
	var rates answer.BusRates
	event := ""
	for rates.Total.Messages == 0 && lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event = name
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case ok && event == "message":
			err = json.Unmarshal([]byte(data), &message)
		case ok && event == "rates":
			err = json.Unmarshal([]byte(data), &rates)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(message.Subject, "live.scan.site.") || !strings.HasPrefix(message.Text, "{") {
		t.Errorf("a message is %+v", message)
	}
	if len(rates.Subjects) == 0 || rates.Seconds <= 0 {
		t.Errorf("rates are %+v", rates)
	}
	for _, subject := range []string{"%3E", "$JS.%3E", "log.block", "live..x", "live.a%20b", "live.%3E.x"} {
		if p := r.call(r.token(), "GET", "/bus/stream?subject="+subject, nil, nil); p.Kind != "invalid" {
			t.Errorf("the subject %s gives %+v", subject, p)
		}
	}
	watchers := func() int { // other connections come and go while a node starts
		var now answer.Bus
		r.call(r.token(), "GET", "/bus", nil, &now)
		n := 0
		for _, c := range now.Connections {
			if c.Name == "node watch" {
				n++
			}
		}
		return n
	}
	if n := watchers(); n != 1 {
		t.Errorf("%d connections watch, want 1", n)
	}
	_ = resp.Body.Close()
	eventually(t, "the watcher's connection is gone", func() bool { return watchers() == 0 })
}
