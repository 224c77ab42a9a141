package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// credentials are what a request is signed with.
type credentials struct {
	id, secret string
	session    string // "" for keys that stay valid
}

const (
	algorithm = "AWS4-HMAC-SHA256"
	stamp     = "20060102T150405Z"
)

// sign signs a request by Signature Version 4 of AWS, with the SHA-256 of its body in it: a server that checks the signature notices
// any byte that was changed on the way. All headers that the request has are signed.
func sign(q *http.Request, body []byte, c *credentials, region string, now time.Time) {
	digest := sha256.Sum256(body)
	sum, at := hex.EncodeToString(digest[:]), now.UTC().Format(stamp)
	q.URL.RawPath = escape(q.URL.Path, "/")
	q.Header.Set("X-Amz-Content-Sha256", sum)
	q.Header.Set("X-Amz-Date", at)
	if c.session != "" {
		q.Header.Set("X-Amz-Security-Token", c.session)
	}
	names, headers := canonicalHeaders(q)
	request := strings.Join([]string{q.Method, q.URL.RawPath, canonicalQuery(q.URL.Query()), headers, names, sum}, "\n")
	scope := strings.Join([]string{at[:8], region, "s3", "aws4_request"}, "/")
	digest = sha256.Sum256([]byte(request))
	text := strings.Join([]string{algorithm, at, scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + c.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = keyed(key, part)
	}
	q.Header.Set("Authorization", algorithm+" Credential="+c.id+"/"+scope+",SignedHeaders="+names+",Signature="+hex.EncodeToString(keyed(key, text)))
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalHeaders returns the names of the headers that are signed, and their lines.
func canonicalHeaders(q *http.Request) (names, lines string) {
	values := map[string]string{"host": q.URL.Host}
	for name, list := range q.Header {
		values[strings.ToLower(name)] = strings.TrimSpace(strings.Join(list, ","))
	}
	sorted := make([]string, 0, len(values))
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var b strings.Builder
	for _, name := range sorted {
		b.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(sorted, ";"), b.String()
}

func canonicalQuery(query url.Values) string {
	var list []string
	for name, values := range query {
		for _, v := range values {
			list = append(list, escape(name, "")+"="+escape(v, ""))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "&")
}

// escape writes all bytes but letters, digits and -._~ as %XX, and those that are kept.
func escape(text, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~"+keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&0xf]})
	}
	return b.String()
}
