// Package s3 sends readings to object stores that speak the protocol of Amazon S3, as files of Parquet: those of a day in the folder of
// that day, below the folder of the node, as Spark, Trino and DuckDB expect partitions. A file is complete when it is seen, and never
// changed, but for a crash: then the same readings replace it under the same name.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// The size of files: under load they end after so many rows, which need some 300 MB of memory; otherwise after this time.
const (
	fileRows  = 500_000
	fileEvery = 5 * time.Minute
)

// Kind is the kind of these destinations.
func Kind() destination.Kind {
	return destination.Kind{Make: open, Batch: fileRows, Parallel: 1, Files: true, Every: fileEvery}
}

type writer struct {
	*endpoint.Endpoint

	entry  *setting.Sink
	bucket string
	region string
	path   string // of the folder of the node, from the bucket on
	tags   []string
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// partitions are columns that readers make from the names of folders.
var partitions = []string{"node", "date"} //nolint:gochecknoglobals // a table

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	w := &writer{entry: s, tags: slices.Sorted(maps.Keys(s.Tags))}
	invalid := func(subject, format string, args ...any) error {
		return fault.E("sinks.Open", fault.Invalid, subject, fmt.Errorf(format, args...))
	}
	for _, name := range partitions {
		if slices.Contains(w.tags, name) {
			return nil, invalid(name, "the destination %q has a tag that is called as a folder of its files; give the tag another name", s.Name)
		}
	}
	bucket, prefix, _ := strings.Cut(s.Into, "/")
	if !bucketName.MatchString(bucket) {
		return nil, invalid(s.Into, "into of the destination %q is not a bucket; write one such as readings, or readings/plant for a folder in it", s.Name)
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return nil, invalid(s.URL, "%w", err)
	}
	query := address.Query()
	w.bucket, w.region = bucket, region(address.Hostname(), query.Get("region"))
	w.path = "/" + bucket
	if style := query.Get("style"); style == "virtual" {
		address.Host, w.path = bucket+"."+address.Host, ""
	} else if style != "" && style != "path" {
		return nil, invalid(s.URL, "style of the destination %q is neither path nor virtual", s.Name)
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		w.path += "/" + prefix
	}
	w.path += "/node=" + e.Node
	address.RawQuery = ""
	one := *s
	one.URL = address.String()
	w.Endpoint, err = endpoint.Signed(&one, w.sign)
	return w, err
}

var amazon = regexp.MustCompile(`^s3[.-]([a-z0-9-]+)\.amazonaws\.com`)

// region returns the region that requests are signed for.
func region(host, written string) string {
	if written != "" {
		return written
	}
	if found := amazon.FindStringSubmatch(host); found != nil {
		return found[1]
	}
	return "us-east-1" // what servers of one's own expect
}

// sign signs a request with the user and the password of the entry, if it has them.
func (w *writer) sign(q *http.Request, body []byte) error {
	if w.entry.User == "" {
		return nil
	}
	text, err := endpoint.Password(w.entry)
	if err != nil {
		return err
	}
	secret, session, _ := strings.Cut(text, "\n")
	sign(q, body, &credentials{w.entry.User, strings.TrimSpace(secret), strings.TrimSpace(session)}, w.region, time.Now())
	return nil
}

// Write implements destination.Writer: it sends one file for each day.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	for _, f := range split(rows) {
		data, err := encode(rows, f.rows, w.tags)
		if err != nil {
			return nil, fault.E("sinks.Append", fault.Internal, w.entry.Name, err)
		}
		part := f.part
		if part == "" {
			part = fmt.Sprintf("again-%d", rows[f.rows[0]].Time)
		}
		if err := w.put(ctx, w.path+"/date="+f.day+"/part-"+part+".parquet", data); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Probe implements destination.Prober: it puts an empty object whose name engines pass over. Asking for the bucket would need rights that
// writing files does not.
func (w *writer) Probe(ctx context.Context) error {
	return w.put(ctx, w.path+"/_voltbus", nil)
}

func (w *writer) put(ctx context.Context, path string, data []byte) error {
	sum := sha256.Sum256(data)
	a, err := w.Do(ctx, &endpoint.Request{Method: http.MethodPut, Path: path, Body: data, Header: map[string]string{
		"Content-Type": "application/vnd.apache.parquet", "X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(sum[:]),
	}})
	if a.Status == 0 || err == nil && a.OK() {
		return err
	}
	if told := w.explain(&a); told != nil {
		err = told
	} else if err == nil {
		err = fmt.Errorf("it answers %d %s: %s", a.Status, http.StatusText(a.Status), a.Text())
	}
	return fault.E("sinks.Append", fault.Unavailable, w.entry.URL, err)
}

var errorCode = regexp.MustCompile(`<Code>([A-Za-z]+)</Code>`)

// explain says in plain words what the server's error means; nil if its own words must do.
func (w *writer) explain(a *endpoint.Answer) error {
	code := ""
	if found := errorCode.FindSubmatch(a.Body); found != nil {
		code = string(found[1])
	}
	switch code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		return fmt.Errorf("it does not accept the access key %q or the secret key (%s); look at user and password_file", w.entry.User, code)
	case "RequestTimeTooSkewed":
		return errors.New("the clock of this machine and its clock differ by more than it accepts; set them")
	case "NoSuchBucket":
		return fmt.Errorf("there is no bucket %q; make it, or write another one as into", w.bucket)
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
		return fmt.Errorf("the bucket %q is in another region than %s; write it in the address, such as ?region=eu-central-1: %s", w.bucket, w.region, a.Text())
	case "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
		return errors.New("the file was changed on the way, and is sent again")
	}
	return nil
}
