package peers_test

import (
	"testing"

	"go.uber.org/goleak"

	"voltbus/lab/peers"
	"voltbus/lab/rig/scan"
	testpeers "voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryBrokerThatIsHereDeliversWholeScrapes(t *testing.T) {
	t.Setenv("VOLTBUS_PEER_PYTHON", testpeers.Python(t))
	for _, b := range peers.Brokers() {
		t.Run(b.Name, func(t *testing.T) {
			if err := b.Find(); err != nil {
				t.Skip(err)
			}
			seen := 0
			scrapes, err := b.Run(t.Context(), &peers.Scrapes{
				Devices: 20, Points: 18, Listeners: 3, Scans: 2, Dir: t.TempDir(), Watch: func(scan.Scrape) { seen++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(scrapes) != 2 || seen != 2 {
				t.Fatalf("%d scrapes, %d seen", len(scrapes), seen)
			}
			for _, s := range scrapes {
				if s.Mean <= 0 || s.Slowest < s.Mean {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}
