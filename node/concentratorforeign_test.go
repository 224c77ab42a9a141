package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"voltbus/testing/peers"
)

// foreignState is what a foreign metering data system says of itself.
type foreignState struct {
	Stored             map[string]float64
	Repeated, Requests int
}

func foreignStateOf(t *testing.T, p *peers.Process) (s foreignState) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A concentrator delivers to a system that was written by others after the WSDL. The first requests end with faults.
func TestAConcentratorDeliversToAForeignMeteringDataSystem(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"soap", "soap12"} {
		t.Run(form, func(t *testing.T) {
			foreign := peers.MeteringSystem(t, "--broken", "2")
			path := map[string]string{"soap": "/soap11", "soap12": "/soap12"}[form]
			c := run(t, load(t, t.TempDir(), concentratorOf("form: "+form+"\n    bulk: 10\n    age: 20ms", fmt.Sprintf("url: %q", "http://"+foreign.Addr+path))))
			start, want := someDay(t), map[string]float64{}
			for i := range 45 {
				id := "m1"
				if i%9 == 4 {
					id = "stranger"
				}
				end := start.Add(time.Duration(i+1) * 15 * time.Minute)
				c.single(id, end, float64(i)/4)
				if id == "m1" {
					want[fmt.Sprintf("m1 1 %s+00:00", end.UTC().Format("2006-01-02T15:04:05"))] = float64(i) / 4
				}
			}
			eventually(t, "all is answered", func() bool { return concentration(t, c).Waiting == 0 })
			got := foreignStateOf(t, foreign)
			if len(got.Stored) != len(want) || got.Repeated != 0 {
				t.Errorf("the system has %d readings, and got %d again; want %d and none", len(got.Stored), got.Repeated, len(want))
			}
			for key, v := range want {
				if stored, is := got.Stored[key]; !is || stored != v {
					t.Errorf("%s: %v, %v; want %v", key, stored, is, v)
				}
			}
			if counted := concentration(t, c); counted.Sent != 40 || counted.Refused != 5 || counted.Refusals[0].Reason != "this system has no such meter" {
				t.Errorf("the concentrator counts %+v", counted)
			}
		})
	}
}
