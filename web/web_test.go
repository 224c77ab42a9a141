package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func built() fstest.MapFS {
	return fstest.MapFS{
		".gitkeep":               {},
		"index.html":             {Data: []byte("<!doctype html><title>Voltbus</title>")},
		"pages/overview.html":    {Data: []byte("<!doctype html><title>Voltbus</title><link href=overview.js>")},
		"pages/site.html":        {Data: []byte("<!doctype html><title>Voltbus</title><link href=site.js>")},
		"icon.svg":               {Data: []byte("<svg/>")},
		"sw.js":                  {Data: []byte("addEventListener")},
		"manifest.webmanifest":   {Data: []byte("{}")},
		"assets/index-abc123.js": {Data: []byte("export {}")},
	}
}

func get(h http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, http.NoBody))
	return w
}

func TestHandler(t *testing.T) {
	tests := []struct {
		name, method, target string
		status               int
		contentType, caching string
		body                 string
	}{
		{"the root is the page and is never cached", "GET", "/", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"the root names the files of the overview", "GET", "/", 200, "text/html; charset=utf-8", "no-store", "overview.js"},
		{"a screen names its files", "GET", "/site", 200, "text/html; charset=utf-8", "no-store", "site.js"},
		{"so does what is below a screen", "GET", "/site/completeness?branch=a", 200, "text/html; charset=utf-8", "no-store", "site.js"},
		{"the page of a screen is never cached", "GET", "/pages/site.html", 200, "text/html; charset=utf-8", "no-store", "site.js"},
		{"a hashed asset may be kept forever", "GET", "/assets/index-abc123.js", 200, "text/javascript; charset=utf-8", forever, "export {}"},
		{"another file is kept for an hour", "GET", "/icon.svg", 200, "image/svg+xml", anHour, "<svg/>"},
		{"the service worker is asked for anew", "GET", "/sw.js", 200, "text/javascript; charset=utf-8", "no-cache", "addEventListener"},
		{"the manifest has its type", "GET", "/manifest.webmanifest", 200, "application/manifest+json", "no-cache", "{}"},
		{"an unknown path gives the page", "GET", "/ledger?x=1", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"the address of a device gives the page, whatever its name looks like", "GET", "/device/plant/icon.svg/index.html", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"a directory gives the page", "GET", "/assets", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"an unknown API path is not found", "GET", "/api/v9/points", 404, "text/plain; charset=utf-8", "", "404"},
		{"a lost asset is not found", "GET", "/assets/index-old.js", 404, "text/plain; charset=utf-8", "", "404"},
		{"a hidden file is not served", "GET", "/.gitkeep", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"a path that climbs out stays inside", "GET", "/../../etc/passwd", 200, "text/html; charset=utf-8", "no-store", "<title>Voltbus"},
		{"a head request has no body", "HEAD", "/", 200, "text/html; charset=utf-8", "no-store", ""},
		{"a change is refused", "POST", "/", 405, "text/plain; charset=utf-8", "", "only be read"},
	}
	h := handler(built())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := get(h, tt.method, tt.target)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if got := w.Header().Get("Content-Type"); got != tt.contentType {
				t.Errorf("content type %q, want %q", got, tt.contentType)
			}
			if got := w.Header().Get("Cache-Control"); got != tt.caching {
				t.Errorf("cache control %q, want %q", got, tt.caching)
			}
			if got := w.Body.String(); !strings.Contains(got, tt.body) || (tt.method == "HEAD" && got != "") {
				t.Errorf("body %q, want %q", got, tt.body)
			}
			if got := w.Header().Get("Content-Security-Policy"); got != policy {
				t.Errorf("policy %q, want %q", got, policy)
			}
		})
	}
}

func TestAnAssetIsServedInTheBestCodingThatIsAccepted(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte("export {}")); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	h := handler(fstest.MapFS{
		"assets/index-abc123.js.br": {Data: []byte("as brotli")},
		"assets/index-abc123.js.gz": {Data: packed.Bytes()},
	})
	for accepted, want := range map[string]struct{ coding, body string }{
		"gzip, deflate, br":  {"br", "as brotli"},
		"gzip;q=0.5, br;q=0": {"gzip", packed.String()},
		"GZIP":               {"gzip", packed.String()},
		"identity":           {"", "export {}"},
		"":                   {"", "export {}"},
		"gzip;q=0.0, brotli": {"", "export {}"},
	} {
		t.Run(accepted, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/assets/index-abc123.js", http.NoBody)
			r.Header.Set("Accept-Encoding", accepted)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Content-Encoding"); got != want.coding || w.Body.String() != want.body {
				t.Errorf("coding %q with %q, want %q with %q", got, w.Body.String(), want.coding, want.body)
			}
			for name, want := range map[string]string{"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": forever, "Vary": "Accept-Encoding"} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestHandlerWithoutBuildSaysWhatToDo(t *testing.T) {
	w := get(handler(fstest.MapFS{".gitkeep": {}}), "GET", "/")
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d, want %d", w.Code, http.StatusServiceUnavailable)
	}
	if got := w.Body.String(); !strings.Contains(got, "run make web") {
		t.Errorf("body %q does not say what to do", got)
	}
}

func TestHandlerServesWhatIsEmbedded(t *testing.T) {
	w := get(Handler(), "GET", "/")
	if w.Code != http.StatusOK && w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d, want the page or the word that it is not built", w.Code)
	}
}
