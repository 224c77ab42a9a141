// Package web serves the screens: a page, its script and its styles, embedded in the program.
// The page speaks to the node only through the HTTP API.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// dist is what "npm run build" made; without it only a placeholder stands there.
//
//go:embed all:dist
var dist embed.FS

const (
	notBuilt = "The screens are not built: run make web and start the program again.\n" +
		"The HTTP API at /api/v1 works without them.\n"

	// policy keeps the page to what the node itself serves: no inline script or style, no
	// other host, no frame around it.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

	// pages is the folder of the forms of the page, named after the first segments of their paths; home is that of "/".
	pages = "pages/"
	home  = "overview"

	forever = "public, max-age=31536000, immutable"
	anHour  = "public, max-age=3600"
)

// Handler serves the screens. Hashed assets may be kept forever, the page itself never; a path
// that names no file gives the page, which then shows what the path says, except below /api/ and
// /assets/, where it is not found. Safe for concurrent use.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // only for an invalid name, and ours is a constant
		panic(err)
	}
	return handler(files)
}

func handler(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "screens can only be read", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if serveFile(w, r, files, name) {
			return
		}
		if strings.HasPrefix(name, "api/") || strings.HasPrefix(name, "assets/") {
			http.NotFound(w, r)
			return
		}
		if !servePage(w, r, files, name) {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, notBuilt, http.StatusServiceUnavailable)
		}
	})
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

// servePage answers with the page, in the form that names the files of the screen that the path leads to, so that
// a browser asks for all of them at once. It reports false if the page is not built.
func servePage(w http.ResponseWriter, r *http.Request, files fs.FS, name string) bool {
	screen, _, _ := strings.Cut(name, "/")
	if screen == "" || screen == "." {
		screen = home
	}
	return serveFile(w, r, files, pages+screen+".html") || serveFile(w, r, files, "index.html")
}

// serveFile answers with the file, or reports false if there is none of that name.
func serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name string) bool {
	if strings.HasPrefix(path.Base(name), ".") || !fs.ValidPath(name) {
		return false
	}
	content, used, err := inCoding(files, name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		return false
	}
	w.Header().Set("Cache-Control", caching(name))
	w.Header().Add("Vary", "Accept-Encoding")
	if used != "" {
		w.Header().Set("Content-Encoding", used)
	}
	if path.Ext(name) == ".webmanifest" {
		w.Header().Set("Content-Type", "application/manifest+json")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	return true
}

func caching(name string) string {
	switch {
	case strings.HasPrefix(name, "assets/"): // their names carry a hash of the content
		return forever
	case name == "index.html" || strings.HasPrefix(name, pages):
		return "no-store"
	case name == "sw.js" || name == "manifest.webmanifest": // a browser learns at once of another version
		return "no-cache"
	}
	return anHour
}
