package s3

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The examples of "Authenticating Requests: Using the Authorization Header" of the API reference of Amazon S3.
func TestSignaturesAreThoseThatAmazonPublished(t *testing.T) {
	keys := credentials{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, method, path, body string
		header                   map[string]string
		want                     string
	}{
		{
			"get an object", http.MethodGet, "/test.txt", "",
			map[string]string{"Range": "bytes=0-9"},
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		{
			"put an object", http.MethodPut, "/test$file.text", "Welcome to Amazon S3.",
			map[string]string{"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"},
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{"get the lifecycle", http.MethodGet, "/?lifecycle", "", nil, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"list objects", http.MethodGet, "/?max-keys=2&prefix=J", "", nil, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := httptest.NewRequest(c.method, "http://examplebucket.s3.amazonaws.com"+c.path, nil)
			for name, value := range c.header {
				q.Header.Set(name, value)
			}
			sign(q, []byte(c.body), &keys, "us-east-1", at)
			got := q.Header.Get("Authorization")
			if !strings.HasPrefix(got, "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=") || !strings.HasSuffix(got, ",Signature="+c.want) {
				t.Errorf("the signature is %s, not %s", got, c.want)
			}
		})
	}
}

func TestATokenOfASessionIsSigned(t *testing.T) {
	q := httptest.NewRequest(http.MethodPut, "http://examplebucket.s3.amazonaws.com/a", nil)
	sign(q, nil, &credentials{"id", "secret", "token"}, "us-east-1", time.Unix(0, 0))
	if q.Header.Get("X-Amz-Security-Token") != "token" || !strings.Contains(q.Header.Get("Authorization"), ";x-amz-security-token,") {
		t.Error(q.Header)
	}
}
