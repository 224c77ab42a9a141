package api_test

import (
	"net/http/httptest"
	"testing"
)

// BenchmarkLatest is what the newest values of three points cost over HTTP, without the socket.
func BenchmarkLatest(b *testing.B) {
	n := start(b)
	req := httptest.NewRequestWithContext(b.Context(), "GET", "http://localhost/api/v1/latest?point=site/temp&point=site/count&point=site/on", nil)
	req.Header.Set("Authorization", "Bearer "+n.token)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if n.server.Config.Handler.ServeHTTP(w, req); w.Code != 200 {
			b.Fatalf("answers %d %s", w.Code, w.Body)
		}
	}
}
