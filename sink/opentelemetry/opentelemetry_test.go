package opentelemetry_test

import (
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/opentelemetry"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector reads requests by the published definitions of the protocol: no collector can be had as a package here.
type collector struct {
	address string
	server  *http.Server
	reject  string // the name of a metric that is rejected, and so the request's rest is accepted

	mu   sync.Mutex
	have map[string]string
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{have: map[string]string{}, address: "127.0.0.1:0"}
	c.start(t)
	t.Cleanup(func() { _ = c.server.Close() })
	return c
}

func (c *collector) start(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		t.Fatal(err)
	}
	c.address = l.Addr().String()
	c.server = &http.Server{Handler: c} //nolint:gosec // on loopback
	go func(s *http.Server) { _ = s.Serve(l) }(c.server)
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/metrics" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "no request of the protocol", http.StatusNotFound)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rejected := false
	for len(body) > 0 { // ExportMetricsServiceRequest is a list of ResourceMetrics
		number, kind, n := protowire.ConsumeTag(body)
		if number != 1 || kind != protowire.BytesType {
			http.Error(w, "no request", http.StatusBadRequest)
			return
		}
		part, m := protowire.ConsumeBytes(body[n:])
		body = body[n+m:]
		var all metrics.ResourceMetrics
		if err := (proto.UnmarshalOptions{}).Unmarshal(part, &all); err != nil || len(all.GetResource().GetAttributes()) != 2 {
			http.Error(w, "no resource", http.StatusBadRequest)
			return
		}
		rejected = c.take(&all) || rejected
	}
	if rejected {
		partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
		partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "it is not wanted")
		_, _ = w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
	}
}

func (c *collector) take(all *metrics.ResourceMetrics) (rejected bool) {
	for _, scope := range all.GetScopeMetrics() {
		for _, m := range scope.GetMetrics() {
			if m.GetName() == c.reject {
				rejected = true
				continue
			}
			for _, p := range m.GetGauge().GetDataPoints() {
				value := p.GetAsDouble()
				if _, whole := p.GetValue().(*metrics.NumberDataPoint_AsInt); whole {
					value = float64(p.GetAsInt())
				}
				if p.GetFlags()&uint32(metrics.DataPointFlags_DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK) == 0 {
					c.have[sinktest.Key(m.GetName(), int64(p.GetTimeUnixNano()/1000))] = sinktest.Text(value, "")
				}
			}
		}
	}
	return rejected
}

func (c *collector) peer(t *testing.T) *sinktest.Peer {
	t.Helper()
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "http://" + c.address, Into: "plant"}, Kind: opentelemetry.Kind(), Numbers: true, Late: true,
		Kill: func() { _ = c.server.Close() }, Start: func() { c.start(t) },
		Read: func(testing.TB) map[string]string {
			c.mu.Lock()
			defer c.mu.Unlock()
			return maps.Clone(c.have)
		},
	}
}

func TestMetricsAreThoseOfTheProtocol(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer { return startCollector(t).peer(t) })
	t.Run("data points that are rejected are found and kept", func(t *testing.T) {
		c, log := startCollector(t), sinktest.NewLog()
		c.reject = "plant/b"
		p := c.peer(t)
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/b", 2, point.FloatOf(2)), sinktest.At("plant/c", 3, point.FloatOf(3)))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 2 && s.Kept == 1 })
		list, err := r.Refused("there", 0, 10)
		if err != nil || len(list) != 1 || list[0].Point != "plant/b" || !strings.Contains(list[0].Reason, "not wanted") {
			t.Errorf("refused: %+v %v", list, err)
		}
	})
}
